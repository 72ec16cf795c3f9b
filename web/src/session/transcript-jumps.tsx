import { transcriptJumps as texts } from '../texts/session.ts';
import './transcript-jumps.css';
import { Button } from '../ui/button.tsx';
import type { Jumps } from './use-jumps.ts';

interface TranscriptJumpsProps extends Jumps {
  /** False if all of the transcript is visible, so that there is nowhere to jump to. */
  readonly isLong: boolean;
  readonly onSearch: () => void;
}

/** The buttons beside a transcript that search and jump in it. The keys do the same. */
export function TranscriptJumps(props: TranscriptJumpsProps) {
  const { toStart, toOwnBefore, toOwn, toError, isLong, onSearch } = props;
  return (
    <div className="jumps" role="toolbar" aria-label={texts.label}>
      <Button size="small" tone="quiet" icon="search" aria-label={texts.search} data-opens-search onClick={onSearch} />
      {isLong && (
        <>
          <Button size="small" tone="quiet" icon="toStart" aria-label={texts.start} onClick={toStart} />
          <Button size="small" tone="quiet" icon="arrowUp" aria-label={texts.ownBefore} onClick={toOwnBefore} />
          <Button size="small" tone="quiet" icon="arrowDown" aria-label={texts.own} onClick={toOwn} />
          <Button size="small" tone="quiet" icon="warning" aria-label={texts.error} onClick={toError} />
        </>
      )}
    </div>
  );
}
