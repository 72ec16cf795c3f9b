import { transcriptJumps as texts } from '../texts/session.ts';
import { Button } from '../ui/button.tsx';
import type { Jumps } from './use-jumps.ts';

/** The buttons beside a transcript that jump in it. The keys do the same. */
export function TranscriptJumps({ toStart, toOwnBefore, toOwn, toError, toEnd }: Jumps) {
  return (
    <div className="jumps" role="toolbar" aria-label={texts.label}>
      <Button size="small" tone="quiet" icon="toStart" aria-label={texts.start} onClick={toStart} />
      <Button size="small" tone="quiet" icon="arrowUp" aria-label={texts.ownBefore} onClick={toOwnBefore} />
      <Button size="small" tone="quiet" icon="arrowDown" aria-label={texts.own} onClick={toOwn} />
      <Button size="small" tone="quiet" icon="warning" aria-label={texts.error} onClick={toError} />
      <Button size="small" tone="quiet" icon="toEnd" aria-label={texts.end} onClick={toEnd} />
    </div>
  );
}
