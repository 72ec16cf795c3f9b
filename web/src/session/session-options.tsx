import { Suspense } from 'react';
import { graphql, useFragment, useLazyLoadQuery } from 'react-relay';
import type {
  sessionOptions_session$data,
  sessionOptions_session$key,
} from '../__generated__/sessionOptions_session.graphql.ts';
import type { sessionOptionsMutation } from '../__generated__/sessionOptionsMutation.graphql.ts';
import type { sessionOptionsQuery } from '../__generated__/sessionOptionsQuery.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { sessionOptions as texts } from '../texts/session-options.ts';
import { OptionSelect } from './agent-options.tsx';

/** The options of the session's agent, which users may change while the session accepts messages. */
export function SessionOptions({ session: reference }: { readonly session: sessionOptions_session$key }) {
  const session = useFragment(
    graphql`
      fragment sessionOptions_session on Session {
        sessionId
        agent
        status
        isArchived
        endReason
        organization {
          organizationId
          viewerPermissions
        }
        viewerCanManage {
          isAllowed
        }
        options {
          optionId
          value
          isPending
        }
      }
    `,
    reference,
  );
  // Reading the offer of an agent needs the permission to start sessions.
  if (session.agent == null || !session.organization.viewerPermissions.includes('USE_SESSIONS')) return null;
  return (
    <Suspense fallback={null}>
      <Options session={session} agentId={session.agent} />
    </Suspense>
  );
}

interface OptionsProps {
  readonly session: sessionOptions_session$data;
  readonly agentId: string;
}

function Options({ session, agentId }: OptionsProps) {
  const { sessionId, isArchived, endReason, viewerCanManage, options: chosen } = session;
  const { agent } = useLazyLoadQuery<sessionOptionsQuery>(
    graphql`
      query sessionOptionsQuery($agent: ID!, $organization: ID!) {
        agent(id: $agent) {
          options(organizationId: $organization) {
            optionId
            ...agentOptions_option
          }
        }
      }
    `,
    { agent: agentId, organization: session.organization.organizationId },
    { fetchPolicy: 'store-and-network' },
  );
  const [setOptions, isBusy] = useMutation<sessionOptionsMutation>(graphql`
    mutation sessionOptionsMutation($input: SetSessionOptionsInput!) {
      setSessionOptions(input: $input) {
        session {
          ...sessionOptions_session
        }
        userErrors {
          message
        }
      }
    }
  `);
  const offered = agent?.options ?? [];
  if (offered.length === 0) return null;
  const isClosed = isArchived || endReason === 'TERMINATED' || endReason === 'EXPIRED' || !viewerCanManage.isAllowed;
  return (
    <section aria-label={texts.agentOptions}>
      <h2>{texts.agentOptions}</h2>
      {offered.map((option) => {
        const { optionId } = option;
        const current = chosen.find((each) => each.optionId === optionId);
        return (
          <OptionSelect
            key={optionId}
            option={option}
            value={current?.value ?? null}
            isPending={current?.isPending ?? false}
            isDisabled={isClosed || isBusy}
            onChange={(value) => void setOptions({ input: { sessionId, options: [{ optionId, value }] } })}
          />
        );
      })}
    </section>
  );
}
