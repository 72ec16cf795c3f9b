import { useIsConnectionLost } from '../relay/connectivity.ts';
import { activityStatus as texts } from '../texts/session-transcript.ts';
import type { Entry } from './entry.ts';

interface ActivityStatusProps {
  readonly status: string;
  readonly statusDetail: string | null | undefined;
  readonly isArchived: boolean;
  readonly entries: readonly Entry[];
}

/** The current activity, below the transcript. It has a fixed height, so that nothing moves when it changes. */
export function ActivityStatus(props: ActivityStatusProps) {
  // Nothing is known while the service cannot be reached.
  const isLost = useIsConnectionLost();
  const text = isLost ? null : activityText(props);
  return (
    <p className="now" role="status">
      {text !== null && (
        <>
          <i aria-hidden="true" /> <span>{text}</span>
        </>
      )}
    </p>
  );
}

function activityText({ status, statusDetail, isArchived, entries }: ActivityStatusProps): string | null {
  if (isArchived) return null;
  if (status === 'NEW') return texts.waiting;
  if (status === 'CLAIMED') return texts.starting;
  if (status === 'RESUMING') return texts.resuming;
  if (status !== 'RUNNING' || statusDetail?.startsWith('WAITING_FOR_') === true) return null;
  if (isRestarting(entries)) return texts.restarting;
  return hasWaiting(entries) ? texts.readsAfterTurn : texts.working;
}

/** Returns true if the last entry reports a failure of the agent, after which it starts again. */
function isRestarting(entries: readonly Entry[]): boolean {
  const last = entries.at(-1);
  return last?.__typename === 'NoticeEvent' && last.failure != null;
}

/** Returns true if a message other than an answer arrived after the current turn started. */
function hasWaiting(entries: readonly Entry[]): boolean {
  const start = entries.findLastIndex(({ __typename }) => __typename === 'TurnEvent');
  const turn = entries[start];
  if (turn?.__typename !== 'TurnEvent' || turn.phase !== 'STARTED') return false;
  return entries
    .slice(start)
    .some((entry) => entry.__typename === 'SessionMessage' && entry.type === 'USER_MESSAGE' && entry.answer === null);
}
