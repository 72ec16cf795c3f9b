/** Announcements that stay pending until a later read has succeeded. */
export interface Settlement {
  /** Records a change: cached values are out of date until they have been read again. */
  announce(): void;
  /**
   * Marks the start of a read. Returns a function to call when the read has succeeded: it settles everything announced
   * before the read.
   */
  begin(): () => void;
  /** Waits for the announcements so far, but not for later ones; null when none is pending. */
  wait(): Promise<void> | null;
}

interface Announced {
  readonly settled: Promise<void>;
  readonly settle: () => void;
  hasBegun: boolean;
}

/**
 * See {@link Settlement}. Announcements between two reads are merged, so that their number is bounded by the reads
 * under way.
 */
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
