import { Link } from 'wouter';
import { sessionAddress } from '../session/address.ts';
import { common } from '../texts/common.ts';
import { bulkResults, bulkReport as texts } from '../texts/sessions.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { Progress } from './act-on-all.ts';

/** The progress report of a bulk operation. */
export interface Report extends Progress {
  /** The operation: "archived". */
  readonly done: keyof typeof bulkResults;
}

/** The maximum number of refusals that are listed. */
const maxShown = 200;

interface BulkReportProps {
  readonly report: Report;
  readonly onStop: () => void;
  readonly onClose: () => void;
}

/** The progress of a bulk operation, and each refused session with the reason. */
export function BulkReport({ report, onStop, onClose }: BulkReportProps) {
  const { count, refusals, isOver, done } = report;
  const shown = refusals.slice(0, maxShown);
  return (
    <Dialog
      title={isOver ? texts.done : texts.inProgress}
      onClose={isOver ? onClose : onStop}
      actions={
        isOver ? <Button onClick={onClose}>{common.close}</Button> : <Button onClick={onStop}>{texts.stop}</Button>
      }
    >
      <p role="status">{texts.progress({ done: bulkResults[done](count), failed: refusals.length })}</p>
      {shown.length > 0 && (
        <ul className="refusals" aria-label={texts.label}>
          {shown.map(({ sessionId, message }) => (
            <li key={sessionId}>
              <Link href={sessionAddress(sessionId)}>{sessionId}</Link> {message}
            </li>
          ))}
        </ul>
      )}
      {refusals.length > shown.length && <p>{texts.more({ count: refusals.length - shown.length })}</p>}
    </Dialog>
  );
}
