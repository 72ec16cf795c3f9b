import { Suspense } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import { Link } from 'wouter';
import type { keyActionQuery } from '../__generated__/keyActionQuery.graphql.ts';
import { useSigned } from '../app/gate.tsx';
import { mayHaveKeys } from '../layout/navigation.ts';
import { keyAction as texts } from '../texts/session-transcript.ts';
import type { Entry } from './entry.ts';
import { type KeyLink, keyLink } from './key-link.ts';

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

/** Leads to the key with which the session failed, or whose budget is spent, or to the page of agents if its agent is missing. */
export function KeyAction({ status, statusDetail, entries, agentId, ...rest }: KeyActionProps) {
  if (status === 'ERROR' && lastError(entries)?.failure === 'AGENT_NOT_FOUND') return <AgentsAction />;
  const advice = adviceOf(status, statusDetail, entries);
  if (advice === null || agentId === null) return null;
  return (
    <Suspense fallback={null}>
      <Action advice={advice} agentId={agentId} {...rest} />
    </Suspense>
  );
}

const lastError = (entries: readonly Entry[]) => entries.findLast((entry) => entry.__typename === 'ErrorEvent');

/** Leads to the page on which the missing agent can be installed. */
function AgentsAction() {
  if (!useSigned().may('MANAGE_ENTERPRISE_SETTINGS')) return null;
  return <ActionLink link={{ path: '/manage/agents', label: texts.agents }} advice={texts.installAgent} />;
}

/** Returns the advice for a session that its key has stopped; null: something else has, or nothing. */
function adviceOf(status: string, statusDetail: string | null | undefined, entries: readonly Entry[]): string | null {
  if (status === 'SUSPENDED' && statusDetail === 'OUT_OF_CREDITS') {
    return texts.raiseBudget;
  }
  if (status !== 'ERROR') return null;
  const error = lastError(entries);
  if (error?.failure === 'AGENT_LOGIN_REFUSED') return texts.changeKey;
  if (error?.failure == null || !error.failure.startsWith('PROVIDER_') || error.failure === 'PROVIDER_LIMIT')
    return null;
  return error.failure === 'PROVIDER_KEY_MISSING' ? texts.addKey : texts.changeKey;
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
  return link && <ActionLink link={link} advice={advice} />;
}

function ActionLink({ link, advice }: { readonly link: KeyLink; readonly advice: string }) {
  return (
    <p className="retry">
      <Link href={link.path} className="button plain small">
        {link.label}
      </Link>
      <span>{advice}</span>
    </p>
  );
}
