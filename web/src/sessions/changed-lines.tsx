import { changedLines as texts } from '../texts/sessions.ts';
import { writeNumber } from '../ui/number.ts';

interface ChangedLinesProps {
  readonly added: number;
  readonly removed: number;
}

/** The size of the changes of a session, in lines. */
export function ChangedLines({ added, removed }: ChangedLinesProps) {
  return (
    <span
      className="changed-lines"
      role="img"
      aria-label={texts.label({ added: writeNumber(added), removed: writeNumber(removed) })}
    >
      <b className="added">+{writeNumber(added)}</b> <b className="removed">−{writeNumber(removed)}</b>
    </span>
  );
}
