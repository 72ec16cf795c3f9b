import type { Readable, Writable } from 'node:stream';
import { ReadableStream, WritableStream } from 'node:stream/web';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { createPace } from './pace.ts';
import { LineTooComplex, parseLine } from './parse-line.ts';

/** The maximum size of a message: tool output, pictures and diffs can be large. */
const maxLineMegabytes = 16;
const maxLineBytes = maxLineMegabytes * 1_024 * 1_024;
/**
 * The maximum number of an agent's requests that wait for a response, or for the agent to read it, before reading
 * pauses.
 */
const maxUnanswered = 64;
const newline = 10;
/** The measured cost of a message besides parsing its line: checks, dispatch and joining. */
const messageMs = 0.03;
const megabyteMs = 3;

/** Hooks of a message stream. */
export interface MessageHooks {
  /** Awaited before each message is delivered: earlier ones may still be in progress. */
  room(): Promise<void> | null;
  /** Called when the processing of a received message starts and when it ends. */
  onWork(isWorking: boolean): void;
  /** Called when the agent sent something that is not read, with the reason as a sentence. Nothing more is read. */
  onLimitExceeded(sentence: string): void;
}

/**
 * Reads an agent's messages, one per line. Invalid messages are ignored: the SDK's own stream answers them, and such
 * answers fill the stdin of an agent that does not read, until both sides block. A write to an agent that has ended is
 * not an error either: its last output is still read, and its exit tells the rest. Responses to unknown requests are
 * dropped, because the SDK would print their id, which the agent controls. Unread data stays in the pipe, so an agent
 * that sends too much has to wait.
 */
export function createMessageStream(stdin: Writable, stdout: Readable, hooks: MessageHooks): Stream {
  const requestIds = new Set<unknown>();
  const answers = createCounter();
  const readable = ReadableStream.from(readMessages(stdout, requestIds, answers, hooks));
  const writable = new WritableStream<AnyMessage>({
    async write(message) {
      if ('method' in message && 'id' in message) requestIds.add(message.id);
      await new Promise<void>((resolve) => stdin.write(`${JSON.stringify(message)}\n`, () => resolve()));
      if (!('method' in message)) answers.remove();
    },
  });
  return { readable, writable } as Stream;
}

/** The number of the agent's open requests. */
interface Counter {
  add(): void;
  remove(): void;
  /** A promise while there are too many. */
  room(): Promise<void> | null;
}

function createCounter(): Counter {
  let open = 0;
  let wake: () => void = () => undefined;
  return {
    add() {
      open++;
    },
    remove() {
      open--;
      if (open < maxUnanswered) wake();
    },
    room: () =>
      open < maxUnanswered
        ? null
        : new Promise((resolve) => {
            wake = resolve;
          }),
  };
}

async function* readMessages(
  stdout: Readable,
  requestIds: Set<unknown>,
  answers: Counter,
  { room, onWork, onLimitExceeded }: MessageHooks,
): AsyncGenerator<AnyMessage> {
  const pace = createPace();
  try {
    for await (const line of readLines(stdout)) {
      if (line === null) {
        onLimitExceeded(`The agent sent a message of more than ${maxLineMegabytes} MB, which is the maximum.`);
        return;
      }
      onWork(true);
      const startedAt = performance.now();
      const parsed = parseLine(line);
      const tookMs = performance.now() - startedAt;
      const message = (parsed instanceof Promise ? await parsed : parsed) as AnyMessage | null;
      await pace.spend(tookMs + (message ? messageMs + (line.length / 1_048_576) * megabyteMs : 0));
      const isWanted = message && ('method' in message || requestIds.delete(message.id));
      if (isWanted) await room();
      onWork(false);
      if (!isWanted) continue;
      await answers.room();
      if ('method' in message && 'id' in message) answers.add();
      yield message;
    }
  } catch (error) {
    if (!(error instanceof LineTooComplex)) throw error;
    onLimitExceeded('The agent sent a message that takes too much time or memory to read.');
  }
}

// Null: a line is too long; no line follows.
async function* readLines(stdout: Readable): AsyncGenerator<Buffer | null> {
  let line: Buffer[] = [];
  let lineBytes = 0;
  const end = () => {
    const joined = line.length === 1 ? (line[0] as Buffer) : Buffer.concat(line);
    line = [];
    lineBytes = 0;
    return joined;
  };
  try {
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        line.push(chunk.subarray(from, at));
        from = at + 1;
        yield end();
      }
      const rest = chunk.subarray(from);
      lineBytes += rest.length;
      if (lineBytes > maxLineBytes) return yield null;
      if (rest.length > 0) line.push(rest);
    }
  } catch {
    // Stdout was destroyed with the process; earlier data is still read.
  }
  if (line.length > 0) yield end();
}
