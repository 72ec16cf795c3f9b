import type { QuotaRefusal } from './reset-time.ts';

/** An agent may retry by itself for a reset that is at most this far away. */
export const retryGraceMs = 10_000;
/** An agent may retry by itself for this time in all, also if the time of the reset is unknown. */
export const maxRetryMs = 60_000;
/** The time in which another call of the agent may succeed after a refusal. */
const settleMs = 1_000;

/** Remembers the refusals of a provider during a turn. */
export interface QuotaMonitor {
  /** A turn begins: forgets what was before. */
  begin(): void;
  /** A call begins. Returns a function to call at its end. */
  started(): () => void;
  /** A call was refused because of a limit. */
  refused(refusal: QuotaRefusal): void;
  /** A call was accepted. */
  accepted(): void;
  /** The last refusal of the turn, with the time to its reset from now on, 1 ms if it has passed; null: none. */
  last(): QuotaRefusal | null;
  /** True if no call was accepted after the last refusal. */
  isRefused(): boolean;
  /**
   * Resolves when the agent has to be stopped in this turn: every call since a refusal was refused, none is in progress,
   * and the reset is further away than {@link retryGraceMs}, or the agent has retried for {@link maxRetryMs}.
   */
  overdue(): Promise<void>;
}

/** Creates the monitor of one run. Times are those of the monotonic clock. */
export function createQuotaMonitor(): QuotaMonitor {
  let last: { readonly at: number; readonly resetMs: number | null } | null = null;
  /** The time of the first refusal after which no call was accepted; null: none. */
  let refusedSince: number | null = null;
  /** The number of calls in progress. */
  let open = 0;
  let timer: NodeJS.Timeout | undefined;
  let resolve: () => void = () => undefined;
  let overdue = new Promise<void>(() => undefined);

  const remaining = () => {
    if (last === null) return null;
    const ms = last.resetMs === null ? null : last.resetMs - (performance.now() - last.at);
    return { resetMs: ms === null ? null : Math.max(1, Math.ceil(ms)) };
  };
  const check = () => {
    clearTimeout(timer);
    if (last === null || refusedSince === null || open > 0) return;
    const isFar = last.resetMs !== null && last.resetMs > retryGraceMs;
    const dueAt = refusedSince + (isFar ? settleMs : maxRetryMs);
    const waitMs = dueAt - performance.now();
    if (waitMs <= 0) resolve();
    else timer = setTimeout(check, waitMs).unref();
  };

  return {
    begin() {
      clearTimeout(timer);
      last = null;
      refusedSince = null;
      overdue = new Promise<void>((done) => {
        resolve = done;
      });
    },
    started() {
      open += 1;
      return () => {
        open -= 1;
        check();
      };
    },
    refused({ resetMs }) {
      last = { at: performance.now(), resetMs };
      refusedSince ??= last.at;
      check();
    },
    accepted() {
      refusedSince = null;
      clearTimeout(timer);
    },
    last: remaining,
    isRefused: () => refusedSince !== null,
    overdue: () => overdue,
  };
}
