import { Suspense } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { keyActionQuery } from '../__generated__/keyActionQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { mayHaveKeys } from '../layout/navigation.ts';
import type { Entry } from './entry.ts';
import { keyLink } from './key-link.ts';

interface KeyActionProps {
  readonly status: string;
  readonly statusDetail: string | null | undefined;
  readonly entries: readonly Entry[];
  /** The id of the session's agent; null: the session has none yet. */
  readonly agentId: string | null;
  readonly organizationId: string;
  /** The global id of the session's creator; null: unknown. */
  readonly creatorId: string | null;
}

/** Leads to the key of a model provider with which the session failed, or whose budget is spent. */
export function KeyAction({ status, statusDetail, entries, agentId, ...rest }: KeyActionProps) {
  const advice = adviceOf(status, statusDetail, entries);
  if (advice === null || agentId === null) return null;
  return (
    <Suspense fallback={null}>
      <Action advice={advice} agentId={agentId} {...rest} />
    </Suspense>
  );
}

/** Returns the advice for a session that its key has stopped; null: something else has, or nothing. */
function adviceOf(status: string, statusDetail: string | null | undefined, entries: readonly Entry[]): string | null {
  if (status === 'SUSPENDED' && statusDetail === 'OUT_OF_CREDITS') {
    return 'Raise the budget of the key: the session then continues by itself.';
  }
  if (status !== 'ERROR') return null;
  const error = entries.findLast((entry) => entry.__typename === 'ErrorEvent');
  if (error?.failure == null || !error.failure.startsWith('PROVIDER_') || error.failure === 'PROVIDER_LIMIT')
    return null;
  return error.failure === 'PROVIDER_KEY_MISSING' ? 'Add a key, then retry.' : 'Change the key, then retry.';
}

type ActionProps = Pick<KeyActionProps, 'organizationId' | 'creatorId'> & {
  readonly advice: string;
  readonly agentId: string;
};

function Action({ advice, agentId, organizationId, creatorId }: ActionProps) {
  const signed = useSigned();
  const { agent } = useLazyLoadQuery<keyActionQuery>(
    graphql`
      query keyActionQuery($agent: ID!, $organization: ID!) {
        agent(id: $agent) {
          agentId
          keySource(organizationId: $organization)
        }
      }
    `,
    { agent: agentId, organization: organizationId },
    { fetchPolicy: 'network-only' },
  );
  const link = keyLink({
    source: agent?.keySource ?? null,
    isOwn: creatorId !== null && creatorId === signed.viewer.principal?.id,
    mayHaveKeys: mayHaveKeys(signed),
    mayChangeOrganization: signed.may('MANAGE_ORG_SECRETS'),
    mayChangeEnterprise: signed.may('MANAGE_ENTERPRISE_SETTINGS'),
  });
  if (link === null) return null;
  return (
    <p className="retry">
      <Link href={link.path} className="button plain small">
        {link.label}
      </Link>
      <span>{advice}</span>
    </p>
  );
}
