import type { Readable, Writable } from 'node:stream';
import { ReadableStream, WritableStream } from 'node:stream/web';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { createPace } from './pace.ts';
import { LineTooComplex, parseLine } from './parse-line.ts';

/** The most that a message may take: tool output, pictures and diffs can be large. */
const maxLineMegabytes = 16;
const maxLineBytes = maxLineMegabytes * 1_024 * 1_024;
/** So many of an agent's requests may wait for their answers, or for the agent to read them, before its next words are read. */
const maxUnanswered = 64;
const newline = 10;
/** What a message costs beside the reading of its line, by measurement: checks, dispatch and joining. */
const messageMs = 0.03;
const megabyteMs = 3;

/** What a stream of messages is told, and asks. */
export interface MessageHooks {
  /** Awaited before each message is given: what came of those before may still have to be worked off. */
  room(): Promise<void> | null;
  /** A message that has come is being worked off, or no longer: the next is waited for. */
  onWork(isWorking: boolean): void;
  /** The agent sent what is not read, for the reason that stands in the sentence; nothing more is. */
  onLimitExceeded(sentence: string): void;
}

/**
 * An agent's messages, one a line. What is no message is passed over in silence. The SDK's own stream answers it, and then
 * noise fills the stdin of an agent that does not read, until both wait for each other. A write to an agent that is gone
 * is no error here either: what it said last is still to be read, and its exit tells the rest. Nor is an answer that nobody
 * waits for passed on: the SDK would print its id, which may be anything that the agent knows. What is not read yet stays in
 * the pipe, so that an agent that says more than can be taken has to wait.
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

/** How many of the agent's requests are open. */
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
        onLimitExceeded(
          `The agent sent a message of more than ${maxLineMegabytes} MB, which is the most that is read.`,
        );
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

// Null: a line is too long; it is the last that is given.
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
    // Stdout was torn down with the process; what came before is still read.
  }
  if (line.length > 0) yield end();
}
