import type { MissingPart } from '../../../checkpoints/driver.ts';
import { missingText } from '../../checkpoints/missing-text.ts';

/** Tells users in the log, and the agent in its next prompt, what would be lost with the worker. */
export interface SafetyNotices {
  /** Changes have not been stored since this time. Says so once, until they are. */
  unsafe(since: Date): Promise<void>;
  /**
   * A state is stored, with these missing parts; undefined: they are as before. `isSafe`: no older change is left, which is said
   * once after {@link SafetyNotices.unsafe}.
   */
  stored(isSafe: boolean, missing?: readonly MissingPart[]): Promise<void>;
  /** Takes the text for the agent about parts that are not saved; null: nothing new. */
  takeText(): string | null;
}

/** Creates the notices of a run. `writeNotice` writes a NOTICE to the log; `known` are the parts that an earlier run has reported. */
export function createSafetyNotices(
  writeNotice: (body: string) => Promise<void>,
  known: readonly MissingPart[],
): SafetyNotices {
  let isUnsafe = false;
  let reported = keyOf(known);
  let text: string | null = null;
  const report = async (missing: readonly MissingPart[]) => {
    const key = keyOf(missing);
    if (key === reported) return;
    reported = key;
    const list = missingText(missing);
    const note = list === null ? null : `These parts of the workspace are not saved:\n\n${list}`;
    text = note && `${note}\n\nThey would be lost if the session moved to another machine.`;
    await writeNotice(note ?? 'All parts of the workspace are saved again.');
  };
  return {
    async unsafe(since) {
      if (isUnsafe) return;
      isUnsafe = true;
      await writeNotice(
        `The workspace isn’t backed up right now: its changes since ${since.toISOString()} aren’t stored yet and would be lost with the worker. The agent continues, and the service keeps trying.`,
      );
    },
    async stored(isSafe, missing) {
      if (isUnsafe && isSafe) {
        isUnsafe = false;
        await writeNotice('The workspace is backed up again: all its changes are stored.');
      }
      if (missing !== undefined) await report(missing);
    },
    takeText() {
      const taken = text;
      text = null;
      return taken;
    },
  };
}

// Files that change all the time would be reported after each save.
function keyOf(missing: readonly MissingPart[]): string {
  const lasting = missing.filter(({ reason }) => reason !== 'CHANGING');
  return JSON.stringify(lasting.map(({ path, reason }) => [path, reason]).sort());
}
