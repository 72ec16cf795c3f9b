import { useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { checklistQuery } from '../__generated__/checklistQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { gettingStartedPath } from '../getting-started/paths.ts';
import { closeChecklist, hasWorkingKey, installedAgents, isChecklistClosed } from '../getting-started/setup-state.ts';
import { useStepKeys } from '../getting-started/use-step-keys.ts';
import { principalKeyOf } from '../relay/viewer.ts';
import { checklist as texts } from '../texts/home.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';

interface ChecklistProps {
  readonly organizationId: string;
  /** Begins the first session. */
  readonly onSession: () => void;
}

/** Steps of the set-up, for those who may do them; nothing if all are done, or the viewer has dismissed it. */
export function Checklist({ organizationId, onSession }: ChecklistProps) {
  const { viewer, may } = useSigned();
  const principalKey = principalKeyOf(viewer);
  const [isClosed, setClosed] = useState(() => isChecklistClosed(principalKey));
  const seesMembers = may('VIEW_ORG_MEMBERSHIP');
  const {
    agents,
    organization,
    viewer: owner,
    enterprise,
  } = useLazyLoadQuery<checklistQuery>(
    graphql`
      query checklistQuery($id: ID!, $seesMembers: Boolean!, $seesKeys: Boolean!) {
        agents {
          agentId
          providers
          keySource(organizationId: $id)
        }
        organization(id: $id) {
          sessions(first: 1) {
            nodes {
              id
            }
          }
          repositories(first: 1) {
            nodes {
              id
            }
          }
          providerKeys(first: 50) @include(if: $seesKeys) {
            nodes {
              ...useStepKeys_key
            }
          }
          members(first: 2) @include(if: $seesMembers) {
            nodes {
              id
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
        }
      }
    `,
    { id: organizationId, seesMembers, seesKeys: may('MANAGE_ORG_SECRETS') },
    { fetchPolicy: 'store-and-network' },
  );
  const keys = useStepKeys([owner, organization, enterprise].flatMap((each) => each?.providerKeys?.nodes ?? []));
  if (isClosed || !organization) return null;
  const steps = [
    { label: texts.agent, isDone: installedAgents(agents).length > 0, path: gettingStartedPath },
    { label: texts.key, isDone: hasWorkingKey(agents, keys), path: gettingStartedPath },
    { label: texts.repository, isDone: (organization.repositories?.nodes.length ?? 0) > 0, path: '/manage/git' },
    { label: texts.session, isDone: (organization.sessions?.nodes.length ?? 0) > 0, path: null },
    ...(seesMembers
      ? [{ label: texts.invite, isDone: (organization.members?.nodes.length ?? 0) > 1, path: '/manage/members' }]
      : []),
  ];
  if (steps.every(({ isDone }) => isDone)) return null;
  const dismiss = () => {
    closeChecklist(principalKey);
    setClosed(true);
  };
  return (
    <section className="card checklist" aria-labelledby="checklist">
      <header>
        <h2 id="checklist">{texts.title}</h2>
        <Button tone="quiet" size="small" icon="close" aria-label={texts.dismiss} onClick={dismiss} />
      </header>
      <ol>
        {steps.map(({ label, isDone, path }) => (
          <li key={label} className={isDone ? 'done' : undefined}>
            {isDone ? <Icon name="check" /> : <i aria-hidden="true" />}
            {isDone ? (
              <span>
                <span aria-hidden="true">{label}</span>
                <span className="for-readers">{texts.done({ step: label })}</span>
              </span>
            ) : path === null ? (
              <button type="button" className="link" onClick={onSession}>
                {label}
              </button>
            ) : (
              <Link href={path}>{label}</Link>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
