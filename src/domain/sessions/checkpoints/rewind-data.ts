import { spellTime } from '../../times.ts';

/** The data of a REWIND entry. All ids are unprefixed. */
export interface RewindData {
  readonly checkpointId: string;
  /** The last turn that still holds, and the last entry of the log. */
  readonly turn: number;
  readonly toSeq: number;
  /** The time of the checkpoint, in ISO 8601. */
  readonly savedAt: string;
  /** True if the checkpoint is of the end of the turn. */
  readonly isTurnEnd: boolean;
  /** Later messages that the agent has not received: they still hold. */
  readonly keptSeqs: readonly number[];
}

/** Names the point of a checkpoint in a sentence. */
export function pointText({ turn, savedAt, isTurnEnd }: Pick<RewindData, 'turn' | 'savedAt' | 'isTurnEnd'>): string {
  if (isTurnEnd) return `the end of turn ${turn}`;
  const time = spellTime(new Date(savedAt));
  return turn === 0 ? `their state of ${time}, before the first turn` : `their state of ${time}, in turn ${turn}`;
}
