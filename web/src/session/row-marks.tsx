import { transcriptDays as days, rowMarks as texts } from '../texts/session.ts';
import { Button } from '../ui/button.tsx';
import { useCopy } from '../ui/copy.ts';
import { dateFormat } from '../ui/date.ts';

const clock = dateFormat({ timeStyle: 'short' });
const exact = dateFormat({ dateStyle: 'full', timeStyle: 'medium' });
const date = dateFormat({ dateStyle: 'full' });

interface RowMarksProps {
  readonly at: string;
  /** The address of the session's page at this row. */
  readonly address: string;
}

/** The time of a row and a button that copies a link to it, beside the row while the pointer or the focus is on it. */
export function RowMarks({ at, address }: RowMarksProps) {
  const copy = useCopy();
  const time = new Date(at);
  return (
    <div className="row-marks">
      <time dateTime={at} title={exact.format(time)}>
        {clock.format(time)}
      </time>
      <Button
        size="small"
        tone="quiet"
        icon="link"
        aria-label={texts.copyLink}
        onClick={() => void copy(new URL(address, location.origin).href)}
      />
    </div>
  );
}

/** The separator above the first row of a day. */
export function DaySeparator({ at }: { readonly at: string }) {
  const time = new Date(at);
  const yesterday = new Date();
  yesterday.setDate(yesterday.getDate() - 1);
  const day = time.toDateString();
  const name =
    day === new Date().toDateString()
      ? days.today
      : day === yesterday.toDateString()
        ? days.yesterday
        : date.format(time);
  return (
    <p className="day">
      <time dateTime={at}>{name}</time>
    </p>
  );
}
