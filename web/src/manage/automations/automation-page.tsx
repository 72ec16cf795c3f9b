import { useCallback, useMemo, useState } from 'react';
import { fetchQuery, graphql, useFragment, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import { Link, useLocation } from 'wouter';
import type {
  automationPage_automation$data,
  automationPage_automation$key,
} from '../../__generated__/automationPage_automation.graphql.ts';
import type { automationPageQuery } from '../../__generated__/automationPageQuery.graphql.ts';
import type { automationPageRotateMutation } from '../../__generated__/automationPageRotateMutation.graphql.ts';
import type { automationPageRunsQuery } from '../../__generated__/automationPageRunsQuery.graphql.ts';
import type { automationPageSubscription } from '../../__generated__/automationPageSubscription.graphql.ts';
import { NotFound } from '../../layout/not-found.tsx';
import { Page } from '../../layout/page.tsx';
import { useLive } from '../../relay/use-live.ts';
import { useMutation } from '../../relay/use-mutation.ts';
import { automationPage as texts } from '../../texts/automations.ts';
import { common } from '../../texts/common.ts';
import { nameOf } from '../../ui/actor.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Time } from '../../ui/time.tsx';
import { CopyLine } from '../kit/kit.ts';
import { AutomationButtons } from './automation-buttons.tsx';
import { AutomationFacts } from './automation-facts.tsx';
import { AutomationForm } from './automation-form.tsx';
import { type MadeWebhook, madeWebhook, WebhookSecret } from './made-webhook.tsx';
import { Times } from './rule-fields.tsx';
import { Runs } from './runs.tsx';
import { hasDraft } from './use-draft.ts';
import './automations.css';

type Automation = automationPage_automation$data;

/** `/manage/automations/:id`: the definition, next occurrences and past runs of an automation; `new` creates one. */
export function AutomationPage({ id }: { readonly id: string }) {
  return id === 'new' ? <NewAutomation /> : <LoadedAutomation id={id} />;
}

function NewAutomation() {
  const [, go] = useLocation();
  const [made, setMade] = useState<{ readonly id: string; readonly webhook: MadeWebhook } | null>(null);
  return (
    <Page title={texts.newAutomation}>
      <AutomationForm
        automation={null}
        onCancel={() => go('/manage/automations')}
        onAgain={() => go('/manage/automations/new')}
        onDone={(id, webhook) => (webhook ? setMade({ id, webhook }) : go(`/manage/automations/${id}`))}
      />
      {made && <WebhookSecret made={made.webhook} onClose={() => go(`/manage/automations/${made.id}`)} />}
    </Page>
  );
}

function LoadedAutomation({ id }: { readonly id: string }) {
  const [fetchKey, setFetchKey] = useState(0);
  const { node } = useLazyLoadQuery<automationPageQuery>(
    graphql`
      query automationPageQuery($id: ID!) {
        node(id: $id) {
          __typename
          ... on Automation {
            ...automationPage_automation @alias(as: "automation")
            deletedAt
          }
        }
      }
    `,
    { id },
    { fetchPolicy: 'store-and-network', fetchKey },
  );
  if (node?.__typename !== 'Automation' || node.deletedAt || !node.automation) {
    return (
      <NotFound
        title={texts.automationNotFound}
        text={common.mayBeDeleted}
        path="/manage/automations"
        list={common.automations}
      />
    );
  }
  return <Shown found={node.automation} onChanged={() => setFetchKey((before) => before + 1)} />;
}

interface ShownProps {
  readonly found: automationPage_automation$key;
  readonly onChanged: () => void;
}

function Shown({ found, onChanged }: ShownProps) {
  const automation = useFragment(
    graphql`
      fragment automationPage_automation on Automation {
        id
        automationId
        name
        isEnabled
        nextRuns
        createdAt
        lastErrorAt
        lastErrorMessage
        lastRunAt
        createdBy {
          displayName
        }
        viewerCanManage {
          isAllowed
        }
        triggers {
          eventType
          ... on ScheduleTrigger {
            timeZone
          }
          ... on IncomingWebhookTrigger {
            webhookUrl
          }
        }
        ...automationFacts_automation
        ...automationFragment_automation
        ...automationButtons_automation
        ...runs_automation
      }
    `,
    found,
  );
  const [, go] = useLocation();
  const [isChanging, setChanging] = useState(() => hasDraft(automation.automationId));
  const [made, setMade] = useState<MadeWebhook | null>(null);
  const createdBy = nameOf(automation.createdBy);
  const { name, isEnabled, triggers, nextRuns, lastErrorMessage, lastErrorAt, lastRunAt } = automation;
  const hasFailedLast = lastErrorAt && !(lastRunAt && new Date(lastRunAt) > new Date(lastErrorAt));
  const variables = useMemo(() => ({ ids: [automation.id] }), [automation.id]);
  const environment = useRelayEnvironment();
  // Without the fields that the buttons change: a response that is older than a change must not undo it.
  const readRuns = useCallback(() => {
    const document = graphql`
      query automationPageRunsQuery($id: ID!) {
        node(id: $id) {
          ... on Automation {
            lastErrorAt
            lastErrorMessage
            lastRunAt
            ...runs_automation @alias(as: "runs")
          }
        }
      }
    `;
    fetchQuery<automationPageRunsQuery>(environment, document, { id: automation.id }).subscribe({
      error: () => undefined,
    });
  }, [environment, automation.id]);
  useLive<automationPageSubscription>({
    subscription: graphql`
      subscription automationPageSubscription($ids: [ID!]!) {
        automationRunChanges(automationIds: $ids) {
          automationRunId
        }
      }
    `,
    variables,
    onNext: readRuns,
    // A run may have changed between the read and the subscription.
    onStanding: readRuns,
    onBack: readRuns,
  });
  const zone = triggers.find(({ timeZone }) => timeZone)?.timeZone ?? 'UTC';
  const { isAllowed: mayChange } = automation.viewerCanManage;
  if (isChanging) {
    return (
      <Page title={common.editName({ name })}>
        <AutomationForm
          automation={automation}
          onCancel={() => setChanging(false)}
          onAgain={() => {
            setChanging(true);
            go(`/manage/automations/${automation.id}`);
          }}
          onDone={(_id, webhook) => {
            setChanging(false);
            setMade(webhook);
            onChanged();
          }}
        />
      </Page>
    );
  }
  return (
    <Page
      title={name}
      actions={
        mayChange && (
          <>
            <AutomationButtons
              automation={automation}
              connections={[]}
              onDeleted={() => go('/manage/automations')}
              onRun={onChanged}
            />
            <Button size="small" tone="primary" icon="edit" onClick={() => setChanging(true)}>
              {common.edit}
            </Button>
          </>
        )
      }
    >
      <div className="sheets">
        <section className="card sheet" aria-label={texts.configuration}>
          <dl className="facts">
            <dt>{common.status}</dt>
            <dd>
              <Badge tone={isEnabled ? 'good' : 'plain'}>{isEnabled ? common.enabled : common.disabled}</Badge>
            </dd>
            <AutomationFacts automation={automation} />
            <dt>{common.created}</dt>
            <dd>
              <Time at={automation.createdAt} /> {createdBy !== null && texts.by({ name: createdBy })}
            </dd>
            {lastErrorMessage && hasFailedLast && (
              <>
                <dt>{texts.lastError}</dt>
                <dd>
                  {lastErrorMessage} (<Time at={lastErrorAt} />)
                </dd>
              </>
            )}
          </dl>
          {triggers.some(({ webhookUrl }) => webhookUrl) && (
            <Incoming automation={automation} mayChange={mayChange} onMade={setMade} />
          )}
        </section>
        {nextRuns.length > 0 && (
          <section className="card sheet" aria-labelledby="next-runs">
            <header>
              <h2 id="next-runs">{texts.nextRuns}</h2>
            </header>
            <Times times={nextRuns} timeZone={zone} />
          </section>
        )}
        <section className="card sheet" aria-labelledby="runs">
          <header>
            <h2 id="runs">{texts.runs}</h2>
            <Button size="small" onClick={onChanged}>
              {common.refresh}
            </Button>
          </header>
          <Runs automation={automation} />
        </section>
        <p>
          <Link href="/manage/automations">{texts.allAutomations}</Link>
        </p>
      </div>
      {made && <WebhookSecret made={made} onClose={() => setMade(null)} />}
    </Page>
  );
}

interface IncomingProps {
  readonly automation: Automation;
  readonly mayChange: boolean;
  readonly onMade: (made: MadeWebhook | null) => void;
}

function Incoming({ automation, mayChange, onMade }: IncomingProps) {
  const [isConfirming, setConfirming] = useState(false);
  const [rotate, isRotating] = useMutation<automationPageRotateMutation>(graphql`
    mutation automationPageRotateMutation($input: RotateAutomationWebhookSecretInput!) {
      rotateAutomationWebhookSecret(input: $input) {
        webhookSecret
        userErrors {
          message
        }
      }
    }
  `);
  const confirm = async () => {
    const { payload } = await rotate({ input: { automationId: automation.automationId } });
    setConfirming(false);
    onMade(madeWebhook(payload?.webhookSecret, automation.triggers));
  };
  return (
    <div className="sheets">
      {automation.triggers.flatMap(({ webhookUrl }) =>
        webhookUrl ? [<CopyLine key={webhookUrl} label={texts.webhookUrl} value={webhookUrl} />] : [],
      )}
      <details>
        <summary>{texts.setUpGithubGitlab}</summary>
        <p>{texts.githubSetUp}</p>
        <p>{texts.gitlabSetUp}</p>
        <p>{texts.otherSetUp}</p>
      </details>
      {mayChange && (
        <div className="actions">
          <Button size="small" icon="key" onClick={() => setConfirming(true)}>
            {texts.rotateSecret}
          </Button>
        </div>
      )}
      {isConfirming && (
        <Confirm
          title={texts.rotateTitle}
          text={texts.rotateText}
          confirmLabel={common.rotate}
          isBusy={isRotating}
          onClose={() => setConfirming(false)}
          onConfirm={() => void confirm()}
        />
      )}
    </div>
  );
}
