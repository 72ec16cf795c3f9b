import { common } from '../texts/common.ts';
import { gettingStartedPage as texts } from '../texts/getting-started.ts';
import './getting-started.css';
import { useCallback, useLayoutEffect, useMemo, useRef } from 'react';
import { fetchQuery, graphql, useFragment, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type { gettingStartedPageQuery } from '../__generated__/gettingStartedPageQuery.graphql.ts';
import type { programFragment_program$key } from '../__generated__/programFragment_program.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { Page } from '../layout/page.tsx';
import { programFragment } from '../manage/agents/program-fragment.ts';
import { pollingMs } from '../manage/agents/use-programs.ts';
import { FormErrors } from '../manage/kit/kit.ts';
import { usePolling } from '../relay/use-polling.ts';
import { principalKeyOf } from '../relay/viewer.ts';
import { Button } from '../ui/button.tsx';
import { isLost } from '../ui/focus.ts';
import { Empty } from '../ui/states.tsx';
import { AgentStep } from './agent-step.tsx';
import { demoExample } from './examples.ts';
import { KeyStep } from './key-step.tsx';
import { PromptStep } from './prompt-step.tsx';
import { closeSetup, demoAgentId, hasWorkingKey, installedAgents, usableAgents } from './setup-state.ts';
import { Step } from './step.tsx';
import { useFirstSession } from './use-first-session.ts';
import { useStepKeys } from './use-step-keys.ts';

const query = graphql`
  query gettingStartedPageQuery($id: ID!, $ofOrganization: Boolean!) {
    agents {
      agentId
      name
      isDefault
      providers
      keySource(organizationId: $id)
    }
    organization(id: $id) {
      sessions(first: 1) {
        nodes {
          id
        }
      }
      providerKeys(first: 50) @include(if: $ofOrganization) {
        nodes {
          ...useStepKeys_key
        }
      }
    }
    viewer {
      providerKeys(first: 50) {
        nodes {
          ...useStepKeys_key
        }
      }
    }
    enterprise {
      providerKeys(first: 50) {
        nodes {
          ...useStepKeys_key
        }
      }
      agentPrograms {
        ...programFragment_program
      }
    }
  }
`;

/** `/manage/getting-started`: the steps to a first session, for administrators. */
export function GettingStartedPage() {
  const { organization, may } = useSigned();
  if (organization === null || !may('MANAGE_ENTERPRISE_SETTINGS') || !may('USE_SESSIONS')) {
    return (
      <Empty title={texts.nothingToSetUp} text={texts.nothingToSetUpText}>
        <Link href="/sessions">{texts.viewAllSessions}</Link>
      </Empty>
    );
  }
  return <Steps organizationId={organization.organizationId} />;
}

function Steps({ organizationId }: { readonly organizationId: string }) {
  const { viewer, may } = useSigned();
  const [, go] = useLocation();
  const environment = useRelayEnvironment();
  const ofOrganization = may('MANAGE_ORG_SECRETS');
  const variables = useMemo(() => ({ id: organizationId, ofOrganization }), [organizationId, ofOrganization]);
  const found = useLazyLoadQuery<gettingStartedPageQuery>(query, variables, { fetchPolicy: 'store-and-network' });
  const reference: programFragment_program$key = found.enterprise?.agentPrograms ?? [];
  const programs = useFragment(programFragment, reference);
  usePolling<gettingStartedPageQuery>({ query, variables, everyMs: pollingMs(programs) });
  const reload = useCallback(
    () =>
      void fetchQuery(environment, query, variables)
        .toPromise()
        .catch(() => undefined),
    [environment, variables],
  );
  const demo = useFirstSession(organizationId);
  const agents = installedAgents(found.agents);
  const usable = usableAgents(agents);
  const hasSession = (found.organization?.sessions?.nodes.length ?? 0) > 0;
  const keys = useStepKeys(
    [found.viewer, found.organization, found.enterprise].flatMap((owner) => owner?.providerKeys?.nodes ?? []),
  );
  const isUsable = usable.length > 0;
  const works = hasWorkingKey(agents, keys);
  const done = [agents.length > 0, works, isUsable && hasSession];
  // A key that failed does not stand in the way of the next step: its user may use it anyway.
  const current = [done[0], isUsable, done[2]].indexOf(false);
  const list = useFocusOnStep(current);
  const leave = () => {
    closeSetup(principalKeyOf(viewer));
    go('/sessions');
  };
  const standard = usable.find(({ isDefault }) => isDefault) ?? usable[0];
  const isDone = !done.includes(false);
  return (
    <Page
      title={texts.gettingStarted}
      actions={
        <>
          {found.agents.some(({ agentId }) => agentId === demoAgentId) && !isDone && (
            <Button
              icon="play"
              isBusy={demo.isBusy}
              onClick={() => void demo.start({ prompt: demoExample.prompt, agent: demoAgentId })}
            >
              {texts.tryTheDemoAgent}
            </Button>
          )}
          <Button tone="quiet" onClick={leave}>
            {isDone ? common.close : texts.skip}
          </Button>
        </>
      }
    >
      <p className="lead">{isDone ? texts.ready : texts.intro}</p>
      <FormErrors errors={demo.errors} />
      <ol className="steps" ref={list}>
        <Step number={1} title={texts.installAnAgent} isDone={done[0] === true} isCurrent={current === 0}>
          <AgentStep names={agents.map(({ name }) => name)} programs={programs} />
        </Step>
        <Step number={2} title={texts.addAModelKey} isDone={works} isDoubtful={isUsable} isCurrent={current === 1}>
          <KeyStep agents={agents} keys={keys} organizationId={organizationId} onChanged={reload} />
        </Step>
        <Step
          number={3}
          title={hasSession ? texts.startASession : texts.startYourFirstSession}
          isDone={done[2] === true}
          isCurrent={current === 2}
        >
          <PromptStep organizationId={organizationId} agents={usable} defaultAgentId={standard?.agentId ?? null} />
        </Step>
      </ol>
    </Page>
  );
}

/** Moves the focus to the heading of the next step if the element that had it disappears with a step. */
function useFocusOnStep(current: number) {
  const list = useRef<HTMLOListElement>(null);
  const before = useRef(current);
  useLayoutEffect(() => {
    if (before.current === current) return;
    before.current = current;
    if (isLost()) list.current?.querySelector<HTMLElement>('[aria-current] h2')?.focus();
  }, [current]);
  return list;
}
