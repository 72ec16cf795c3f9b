import { type ReactNode, Suspense, useEffect, useMemo, useState } from 'react';
import { fetchQuery, graphql, useLazyLoadQuery, useRelayEnvironment } from 'react-relay';
import { Link } from 'wouter';
import type { queueNoteQuery } from '../__generated__/queueNoteQuery.graphql.ts';
import { Quiet } from '../layout/quiet.tsx';
import { usePolling } from '../relay/use-polling.ts';
import { queueNote as texts } from '../texts/session-transcript.ts';
import { Icon } from '../ui/icons.tsx';
import { writeNumber } from '../ui/number.ts';
import { RichText } from '../ui/rich-text.tsx';

const everyMs = 5_000;
/** The time in ms after which a second reading shows that a session waits: a free worker takes a session within a second or two. */
const confirmMs = 3_000;

const document = graphql`
  query queueNoteQuery($id: ID!) {
    session(id: $id) {
      id
      queuePosition
      queueReason
      organization {
        id
        sessions(
          first: 1
          filter: { isArchived: false, statusDetail: [WAITING_FOR_USER, WAITING_FOR_APPROVAL] }
        ) {
          totalCount
        }
      }
    }
  }
`;

/** Line that says why a session waits for a worker, and for how many others; nothing for one that does not wait. */
export function QueueNote({ sessionId, status }: { readonly sessionId: string; readonly status: string }) {
  if (status !== 'NEW' && status !== 'RESUMING') return null;
  return (
    <Quiet>
      <Suspense fallback={null}>
        <Note sessionId={sessionId} />
      </Suspense>
    </Quiet>
  );
}

const toAsking = (text: ReactNode) => <Link href="/sessions?state=attention">{text}</Link>;

function Note({ sessionId }: { readonly sessionId: string }) {
  const variables = useMemo(() => ({ id: sessionId }), [sessionId]);
  const { session } = useLazyLoadQuery<queueNoteQuery>(document, variables, { fetchPolicy: 'network-only' });
  usePolling<queueNoteQuery>({ query: document, variables, everyMs });
  const { queuePosition: position, queueReason: reason, organization } = session ?? {};
  const isConfirmed = useIsConfirmed(variables);
  if (reason === 'NO_WORKER' && !isConfirmed) return null;
  if (position == null || reason == null || reason === '%future added value') return null;
  const asking = organization?.sessions?.totalCount ?? 0;
  // The next one in an idle queue starts at once.
  if (reason === 'NO_WORKER' && position === 1 && asking === 0) return null;
  return (
    <div className="banner quiet">
      <Icon name="clock" />
      <span>
        {texts.reasons[reason]} {position > 1 && texts.position({ position })}{' '}
        {asking === 1 && <RichText text={texts.askingOne} slots={{ link: toAsking }} />}
        {asking > 1 && <RichText text={texts.askingMany} slots={{ link: toAsking, count: writeNumber(asking) }} />}
      </span>
    </div>
  );
}

/** Returns true once the query was read again after {@link confirmMs}. */
function useIsConfirmed(variables: queueNoteQuery['variables']): boolean {
  const environment = useRelayEnvironment();
  const [isConfirmed, setConfirmed] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => {
      const confirm = () => setConfirmed(true);
      fetchQuery<queueNoteQuery>(environment, document, variables).subscribe({
        complete: confirm,
        error: () => undefined,
      });
    }, confirmMs);
    return () => clearTimeout(timer);
  }, [environment, variables]);
  return isConfirmed;
}
