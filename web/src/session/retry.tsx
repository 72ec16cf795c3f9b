import { common } from '../texts/common.ts';
import { retry as texts } from '../texts/session-transcript.ts';
import { Button } from '../ui/button.tsx';
import { canRetry, isBeforeTurn } from './can-retry.ts';
import type { Entry } from './entry.ts';
import { useRetry } from './use-retry.ts';

interface RetryProps {
  readonly sessionId: string;
  /** Status of the session. */
  readonly status: string;
  readonly entries: readonly Entry[];
  /** True if messages wait, which the agent receives too. */
  readonly hasQueued: boolean;
}

/** A button that sends the messages of the last turn again, if that turn was stopped or failed. */
export function Retry({ sessionId, status, entries, hasQueued }: RetryProps) {
  const [retry, isBusy] = useRetry(sessionId);
  if (!canRetry(entries, status, hasQueued)) return null;
  // A retry may fail before its turn starts: the next one is another request.
  const occasion = String(entries.at(-1)?.seq);
  return (
    <p className="retry">
      <Button size="small" icon="play" isBusy={isBusy} onClick={() => retry(occasion)}>
        {common.retry}
      </Button>
      <span>
        {isBeforeTurn(entries, status, hasQueued)
          ? texts.sendsUnanswered
          : hasQueued
            ? texts.sendsTurnAndQueued
            : texts.sendsTurn}
      </span>
    </p>
  );
}
