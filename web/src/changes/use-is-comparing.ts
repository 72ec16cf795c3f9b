import { useEffect, useState } from 'react';
import type { TurnMark } from '../session/work-end.ts';

/** The time in ms after which a comparison that has stored nothing has failed; it takes at most 20 seconds. */
const maxMs = 25_000;

interface ComparingOptions {
  readonly isTurnOpen: boolean;
  /** The last event of a turn in the log; null: none. */
  readonly turn: TurnMark | null;
  /** The time of the last stored changes. */
  readonly updatedAt: string | null;
}

/** Returns true while the worker may still compare the repositories after the end of a turn. A comparison that fails reports nothing. */
export function useIsComparing({ isTurnOpen, turn, updatedAt }: ComparingOptions): boolean {
  // A turn that ended long ago, or whose end nothing tells, is over at first.
  const [over, setOver] = useState(() =>
    turn !== null && (!turn.isEnded || ageOf(turn) >= maxMs) && !isTurnOpen ? turn.id : null,
  );
  const isStored = turn?.isEnded === true && updatedAt !== null && Date.parse(updatedAt) >= Date.parse(turn.at);
  const awaited = isTurnOpen || turn === null || isStored || over === turn.id ? null : turn;
  const [id, rest] = awaited === null ? [null, 0] : [awaited.id, awaited.isEnded ? maxMs - ageOf(awaited) : maxMs];
  const ms = Math.round(Math.max(0, rest) / 1_000) * 1_000;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rest is read when the wait begins.
  useEffect(() => {
    if (id === null) return;
    const timer = window.setTimeout(() => setOver(id), ms);
    return () => clearTimeout(timer);
  }, [id]);
  return awaited !== null;
}

// The clock of the browser may differ from that of the service.
const ageOf = ({ at }: TurnMark) => Math.max(0, Date.now() - Date.parse(at));
