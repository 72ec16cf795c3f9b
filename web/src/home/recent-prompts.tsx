import { useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import type { recentPromptsBodyQuery } from '../__generated__/recentPromptsBodyQuery.graphql.ts';
import type { recentPromptsQuery } from '../__generated__/recentPromptsQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { demoAgentId } from '../getting-started/setup-state.ts';
import { common } from '../texts/common.ts';
import { home as texts } from '../texts/home.ts';
import { Time } from '../ui/time.tsx';
import { useToasts } from '../ui/toasts.tsx';
import { visible } from '../ui/visible.ts';
import { ExamplePrompts } from './example-prompts.tsx';

/** The most sessions whose prompts are read, and the most prompts that are shown. */
const [maxRead, maxShown] = [20, 6];

interface RecentPromptsProps {
  readonly organizationId: string;
  readonly onChoose: (prompt: string) => void;
}

/** The prompts of the viewer's last sessions, each once; examples without any. */
export function RecentPrompts({ organizationId, onChoose }: RecentPromptsProps) {
  const { viewer } = useSigned();
  const toasts = useToasts();
  const environment = useRelayEnvironment();
  const [reading, setReading] = useState<string | null>(null);
  const { organization, agents } = useLazyLoadQuery<recentPromptsQuery>(
    graphql`
      query recentPromptsQuery($id: ID!, $filter: SessionFilter, $count: Int!) @throwOnFieldError {
        agents {
          agentId
          isDefault
        }
        organization(id: $id) {
          defaultAgent
          sessions(first: $count, filter: $filter) {
            nodes {
              id
              createdAt
              messages(first: 1) {
                nodes {
                  id
                  type
                  preview
                }
              }
            }
          }
        }
      }
    `,
    {
      id: organizationId,
      count: maxRead,
      filter: { createdByIds: viewer.principal ? [viewer.principal.id] : [], hasParent: false },
    },
    { fetchPolicy: 'store-and-network' },
  );
  const choose = async (id: string) => {
    setReading(id);
    try {
      const found = await fetchQuery<recentPromptsBodyQuery>(
        environment,
        graphql`
          query recentPromptsBodyQuery($id: ID!) @throwOnFieldError {
            sessionEvent(id: $id) {
              ... on SessionMessage {
                body
              }
            }
          }
        `,
        { id },
      ).toPromise();
      const body = found?.sessionEvent?.body;
      if (body) onChoose(body);
    } catch (error) {
      toasts.fail(error instanceof Error ? error.message : common.notReachable);
    } finally {
      setReading(null);
    }
  };
  const seen = new Set<string>();
  const prompts = (organization?.sessions.nodes ?? []).flatMap(({ createdAt, messages }) => {
    const [first] = messages.nodes;
    if (first?.type !== 'INITIAL_USER_MESSAGE' || first.preview.trim() === '' || seen.has(first.preview)) return [];
    seen.add(first.preview);
    return [{ id: first.id, preview: first.preview, createdAt }];
  });
  if (prompts.length === 0) {
    const standard = organization?.defaultAgent ?? agents.find(({ isDefault }) => isDefault)?.agentId;
    return <ExamplePrompts isDemo={standard === demoAgentId} onChoose={onChoose} />;
  }
  return (
    <section className="card recent-prompts" aria-labelledby="recent-prompts">
      <h2 id="recent-prompts">{texts.recentPrompts}</h2>
      <ul>
        {prompts.slice(0, maxShown).map(({ id, preview, createdAt }) => (
          <li key={id}>
            <button type="button" aria-busy={reading === id || undefined} onClick={() => void choose(id)}>
              <span>{visible(preview)}</span>
              <Time at={createdAt} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
