/** Announcements that wait until a read that began after them has succeeded. */
export interface Settlement {
  /** Something changed: what is known is out of date until it has been read again. */
  announce(): void;
  /** Marks the begin of a read. Returns what to call when it has succeeded: it settles what was announced before the read. */
  begin(): () => void;
  /** Waits for what has been announced so far, not for what is announced later; null when nothing is pending. */
  wait(): Promise<void> | null;
}

interface Announced {
  readonly settled: Promise<void>;
  readonly settle: () => void;
  hasBegun: boolean;
}

/** See {@link Settlement}. Announcements between two reads are one, so that their number is bounded by the reads under way. */
export function createSettlement(): Settlement {
  let pending: Announced[] = [];
  return {
    announce() {
      if (pending.at(-1)?.hasBegun !== false) pending.push(createAnnounced());
    },
    begin() {
      const covered = pending;
      for (const each of covered) each.hasBegun = true;
      pending = [...covered];
      return () => {
        for (const each of covered) each.settle();
        pending = pending.filter((each) => !covered.includes(each));
      };
    },
    wait: () => pending.at(-1)?.settled ?? null,
  };
}

function createAnnounced(): Announced {
  let settle = () => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { settled, settle: () => settle(), hasBegun: false };
}
