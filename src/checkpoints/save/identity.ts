import type { Stats } from 'node:fs';

/** The status of a file when it was read: if it is the same, the content is the same. */
export interface Identity {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /**
   * True if the file may change once more without a visible change of its times, because the clock of the file system has not advanced
   * since. Such a file is read again.
   */
  readonly isRacy: boolean;
}

/** Milliseconds by which the clock of a file system may be late. Some count whole seconds only. */
const latency = { fine: 20, coarse: 2_000 };

/** Returns the identity of a file whose status was read at `nowMs`. */
export function identityOf({ ino, size, mtimeMs, ctimeMs }: Stats, nowMs: number): Identity {
  const allowed = ctimeMs % 1_000 === 0 ? latency.coarse : latency.fine;
  return { ino, size, mtimeMs, ctimeMs, isRacy: Math.max(ctimeMs, mtimeMs) >= nowMs - allowed };
}

/** Returns true if a file has not changed since its identity was recorded. */
export function isSame(identity: Identity | null, { ino, size, mtimeMs, ctimeMs }: Stats): boolean {
  return (
    identity !== null &&
    !identity.isRacy &&
    identity.ctimeMs === ctimeMs &&
    identity.mtimeMs === mtimeMs &&
    identity.size === size &&
    identity.ino === ino
  );
}
