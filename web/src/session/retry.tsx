import { Button } from '../ui/button.tsx';
import type { Entry } from './entry.ts';
import { useRetry } from './use-retry.ts';

interface RetryProps {
  readonly sessionId: string;
  readonly entries: readonly Entry[];
}

/** A button that sends the messages of the last turn again, if that turn was stopped or failed. */
export function Retry({ sessionId, entries }: RetryProps) {
  const [retry, isBusy] = useRetry(sessionId);
  const last = entries.findLast(({ __typename }) => __typename === 'TurnEvent');
  const mayRetry = last?.__typename === 'TurnEvent' && last.phase === 'STOPPED' && last.stopReason !== 'END_TURN';
  if (!mayRetry) return null;
  return (
    <p className="retry">
      <Button size="small" icon="play" isBusy={isBusy} onClick={() => retry(String(last.seq))}>
        Retry
      </Button>
      <span>Sends the messages of the last turn again.</span>
    </p>
  );
}
