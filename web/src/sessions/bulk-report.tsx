import { Link } from 'wouter';
import { sessionAddress } from '../session/address.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { Progress } from './act-on-all.ts';

/** The progress report of a bulk operation. */
export interface Report extends Progress {
  /** The past participle of the operation: "archived". */
  readonly done: string;
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
      title={isOver ? 'Done' : 'In progress'}
      onClose={isOver ? onClose : onStop}
      actions={isOver ? <Button onClick={onClose}>Close</Button> : <Button onClick={onStop}>Stop</Button>}
    >
      <p role="status">
        {count} {count === 1 ? 'session' : 'sessions'} {done}, {refusals.length} failed.
      </p>
      {shown.length > 0 && (
        <ul className="refusals" aria-label="Failed sessions">
          {shown.map(({ sessionId, message }) => (
            <li key={sessionId}>
              <Link href={sessionAddress(sessionId)}>{sessionId}</Link> {message}
            </li>
          ))}
        </ul>
      )}
      {refusals.length > shown.length && <p>And {refusals.length - shown.length} more.</p>}
    </Dialog>
  );
}
