import { Readable } from 'node:stream';
import { createPace } from '../../../agents/acp/pace.ts';
import { maxOutputCharacters } from '../../../agents/acp/text-limits.ts';
import type { LongOutput } from '../../../agents/agent.ts';
import { storable } from '../../../common/plain-text.ts';
import type { Store, Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { readToolFiles, storeToolFile } from '../../sessions/attachments/store-tool-file.ts';
import type { StreamMask } from '../drafts/stream-mask.ts';
import type { Mask } from '../runs/masking.ts';
import { maskOutput } from './masked-output.ts';

/** Maximum size of one file, in bytes. */
const maxFileBytes = 10 * 1_048_576;
/** Maximum number of files of tools in one session. */
const maxFiles = 1_000;
/** Time after a failure of the file storage during which outputs are not stored. */
const pauseMs = 60_000;

/** The fields of a tool call's entry that say what its output was. */
export interface OutputFields {
  readonly output?: string;
  /** Size of all of the output. */
  readonly outputBytes?: number;
  /** Unprefixed id of the file with all of it. */
  readonly outputAttachmentId?: string;
}

/** Appends the entry with these fields. */
export type AppendEntry = (writer: Store | Transaction, fields: OutputFields) => Promise<void>;

/** Stores the long outputs of a run's tools as files of the session. */
export interface OutputRecorder {
  /**
   * Calls `append` once, in the transaction that stores the file if there is one. Throws its errors. A failure of the file storage
   * is logged: the entry has no file then.
   */
  record(long: LongOutput, append: AppendEntry): Promise<void>;
}

/** The run of an {@link OutputRecorder}. */
export interface OutputRecorderOptions {
  readonly organizationId: string;
  /** Unprefixed. */
  readonly sessionId: string;
  readonly mask: Mask;
  readonly createStream: () => StreamMask;
  /** True: the run ends, so an output is not masked to its end. */
  isStopping(): boolean;
}

/** Creates the {@link OutputRecorder} of a run. */
export function createOutputRecorder(context: Context, options: OutputRecorderOptions): OutputRecorder {
  const { organizationId, sessionId, mask, createStream, isStopping } = options;
  const pace = createPace();
  const { store, log, maxAttachmentBytes, maxToolOutputBytes } = context;
  const recorded = new WeakMap<object, OutputFields>();
  let stored: { count: number; bytes: number } | null = null;
  let pausedUntil = 0;

  // The output is masked before it is cut: a cut through a secret would leave parts of it.
  const lastOf = (long: LongOutput) => mask(storable(long.end), true).slice(-maxOutputCharacters);
  const withoutFile = (long: LongOutput): OutputFields =>
    long.isComplete
      ? { output: marked(`${long.characters - maxOutputCharacters} earlier characters are not kept`, lastOf(long)) }
      : { output: marked('earlier output is left out', lastOf(long)) };
  const roomFor = async (long: LongOutput): Promise<number> => {
    if (long.start === '' || performance.now() < pausedUntil || maxToolOutputBytes === 0) return 0;
    stored ??= await readToolFiles(store, sessionId);
    if (stored.count >= maxFiles) return 0;
    const room = Math.min(maxFileBytes, maxAttachmentBytes, maxToolOutputBytes - stored.bytes);
    // A part of an output that could have been stored would look like a limit of each file.
    return room < Math.min(maxFileBytes, maxAttachmentBytes, long.bytes * 2) ? 0 : room;
  };

  const storeFile = async (long: LongOutput, maxBytes: number, append: AppendEntry): Promise<boolean> => {
    const limits = { maxBytes, endCharacters: maxOutputCharacters, pace, isStopping };
    const masked = maskOutput(long, createStream(), limits);
    const content = Readable.from(masked.parts);
    let isWriting = false;
    try {
      const file = await storeToolFile(context, { organizationId, sessionId, content }, async (tx, { id }) => {
        isWriting = true;
        const end = masked.isCut() ? lastOf(long) : masked.end();
        const before = (masked.isCut() ? long.characters : masked.characters()) - end.length;
        const fields = {
          output: before > 0 ? marked(`${before} earlier characters: see the file`, end) : end,
          outputBytes: masked.isCut() ? long.bytes : masked.bytes(),
          outputAttachmentId: id,
        };
        await append(tx, fields);
        recorded.set(long.key, fields);
      });
      stored = { count: (stored?.count ?? 0) + 1, bytes: (stored?.bytes ?? 0) + file.sizeBytes };
      return true;
    } catch (error) {
      if (isWriting) throw error;
      pausedUntil = performance.now() + pauseMs;
      log.warn({ err: error, sessionId }, 'The output of a tool could not be stored as a file.');
      return false;
    } finally {
      content.destroy();
    }
  };

  return {
    async record(long, append) {
      const known = recorded.get(long.key);
      if (known !== undefined) return append(store, known);
      const maxBytes = long.isComplete ? await roomFor(long) : 0;
      if (maxBytes > 0 && (await storeFile(long, maxBytes, append))) return;
      const fields = { ...withoutFile(long), ...(long.isComplete && { outputBytes: long.bytes }) };
      if (long.isComplete) recorded.set(long.key, fields);
      await append(store, fields);
    },
  };
}

function marked(mark: string, end: string): string {
  // The cut may be inside a character.
  return `… (${mark})\n${end.replace(/^[\uDC00-\uDFFF]/, '')}`;
}
