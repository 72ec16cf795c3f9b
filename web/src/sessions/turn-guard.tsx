import { type ReactNode, useCallback, useState } from 'react';
import { common } from '../texts/common.ts';
import { turnLoss as texts } from '../texts/sessions.ts';
import { Confirm } from '../ui/dialog.tsx';
import { type Interruptible, type Loss, lossOf } from './turn-loss.ts';

type Act = 'suspend' | 'archive';

interface Pending {
  readonly act: Act;
  readonly count: number;
  readonly losses: readonly Loss[];
  readonly run: () => void;
}

/** Runs an act on sessions, after a confirmation if it ends the turn of one of them. Archiving suspends too. */
export type GuardTurns = (act: Act, sessions: readonly Interruptible[], run: () => void) => void;

/** Returns {@link GuardTurns}, and the dialog to render. */
export function useTurnGuard(): readonly [GuardTurns, ReactNode] {
  const [pending, setPending] = useState<Pending | null>(null);
  const guard = useCallback<GuardTurns>((act, sessions, run) => {
    const losses = sessions.map(lossOf).filter((loss) => loss !== null);
    if (losses.length === 0) run();
    else setPending({ act, count: sessions.length, losses, run });
  }, []);
  const dialog = pending && (
    <Confirm
      title={pending.act === 'suspend' ? texts.suspendTitle : texts.archiveTitle(pending.count)}
      text={
        pending.count === 1
          ? texts[pending.act][pending.losses[0] as Loss]
          : texts.archiveSeveral(pending.losses.length)
      }
      confirmLabel={pending.act === 'suspend' ? texts.suspendLabel : common.archive}
      tone="primary"
      onClose={() => setPending(null)}
      onConfirm={() => {
        setPending(null);
        pending.run();
      }}
    />
  );
  return [guard, dialog];
}
