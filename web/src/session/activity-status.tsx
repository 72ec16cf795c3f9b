import { useEffect, useState } from 'react';
import { useIsConnectionLost } from '../relay/connectivity.ts';
import { activityStatus as texts } from '../texts/session-transcript.ts';
import { writeDuration } from '../ui/duration.ts';
import { startOfTurn, startOfWork } from './current-turn.ts';
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
  const start = text === texts.working ? startOfWork(props.entries) : null;
  return (
    <div className="now">
      <p role="status">
        {text !== null && (
          <>
            <i aria-hidden="true" /> <span>{text}</span>
          </>
        )}
      </p>
      {start !== null && <Elapsed since={start.createdAt} key={start.id} />}
    </div>
  );
}

/** The time since the agent started to work, each second. Screen readers do not read its changes. */
function Elapsed({ since }: { readonly since: string }) {
  // The clock of the browser may differ from that of the service: it never shows a time before the start.
  const measure = () => Math.max(0, Date.now() - Date.parse(since));
  const [ms, setMs] = useState(measure);
  useEffect(() => {
    const timer = window.setInterval(() => setMs(measure()), 1_000);
    return () => clearInterval(timer);
  });
  return <small>{writeDuration(ms)}</small>;
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
  const turn = startOfTurn(entries);
  if (turn === null) return false;
  return entries
    .slice(entries.indexOf(turn))
    .some((entry) => entry.__typename === 'SessionMessage' && entry.type === 'USER_MESSAGE' && entry.answer === null);
}
