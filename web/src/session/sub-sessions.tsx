import { useMemo, useState } from 'react';
import { graphql, useFragment } from 'react-relay';
import { Link } from 'wouter';
import type {
  subSessions_session$data,
  subSessions_session$key,
} from '../__generated__/subSessions_session.graphql.ts';
import type { subSessionsSubscription } from '../__generated__/subSessionsSubscription.graphql.ts';
import { useLive } from '../relay/use-live.ts';
import { subSessions as texts } from '../texts/session-details.ts';
import { StatusBadge } from '../ui/badge.tsx';
import { sessionAddress } from './address.ts';
import { plainTitle } from './plain-title.ts';

/** The maximum number of sessions followed at once: each is a subscription. */
const maxFollowed = 20;

type Child = subSessions_session$data['children']['nodes'][number];
type SessionState = Omit<NonNullable<subSessionsSubscription['response']['sessionUpdated']>, 'id'>;

/** The child sessions of a session and its forks, with their current status. */
export function SubSessions({ session }: { readonly session: subSessions_session$key }) {
  const { children } = useFragment(
    graphql`
      fragment subSessions_session on Session @throwOnFieldError {
        children(first: 50) {
          nodes {
            id
            sessionId
            title
            status
            statusDetail
            endReason
            forkedFrom {
              __typename
            }
          }
        }
      }
    `,
    session,
  );
  const { nodes } = children;
  const followed = new Set(nodes.filter(({ endReason }) => !endReason).slice(0, maxFollowed));
  const parts = [
    { title: texts.subSessions, sessions: nodes.filter(({ forkedFrom }) => !forkedFrom) },
    { title: texts.forks, sessions: nodes.filter(({ forkedFrom }) => forkedFrom) },
  ];
  return parts.map(
    ({ title, sessions }) =>
      sessions.length > 0 && (
        <section key={title}>
          <h2>{title}</h2>
          <ul className="plain">
            {sessions.map((child) => (
              <SubSession child={child} isFollowed={followed.has(child)} key={child.id} />
            ))}
          </ul>
        </section>
      ),
  );
}

function SubSession({ child, isFollowed }: { readonly child: Child; readonly isFollowed: boolean }) {
  // A page or a parent's update that was read before the child's last change may arrive after it. The updates of the child
  // itself arrive in order.
  const [latest, setLatest] = useState<SessionState | null>(null);
  const { id, sessionId } = child;
  const { title, ...status } = latest ?? child;
  const variables = useMemo(() => (isFollowed ? { id } : null), [id, isFollowed]);
  useLive<subSessionsSubscription>({
    subscription: graphql`
      subscription subSessionsSubscription($id: ID!) {
        sessionUpdated(sessionId: $id) {
          id
          title
          status
          statusDetail
          endReason
        }
      }
    `,
    variables,
    onNext: (data) => setLatest(data?.sessionUpdated ?? null),
  });
  return (
    <li className="pair">
      <Link href={sessionAddress(sessionId)}>{plainTitle(title)}</Link>
      <StatusBadge {...status} />
    </li>
  );
}
