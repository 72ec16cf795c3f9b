import type { Readable, Writable } from 'node:stream';
import { ReadableStream, WritableStream } from 'node:stream/web';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';

/** Tool output and diffs can be large; a longer line is passed over. */
const mostLineBytes = 100 * 1_024 * 1_024;
const newline = 10;

/**
 * An agent's messages, one a line. What is no message is passed over in silence. The SDK's own stream answers it, and then
 * noise fills the stdin of an agent that does not read, until both wait for each other. A write to an agent that is gone
 * is no error here either: what it said last is still to be read, and its exit tells the rest. Nor is an answer that nobody
 * waits for passed on: the SDK would print its id, which may be anything that the agent knows.
 */
export function createMessageStream(stdin: Writable, stdout: Readable): Stream {
  const asked = new Set<unknown>();
  const readable = ReadableStream.from(readMessages(stdout, asked));
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      if ('method' in message && 'id' in message) asked.add(message.id);
      return new Promise((resolve) => stdin.write(`${JSON.stringify(message)}\n`, () => resolve()));
    },
  });
  return { readable, writable } as Stream;
}

async function* readMessages(stdout: Readable, asked: Set<unknown>): AsyncGenerator<AnyMessage> {
  const isAwaited = (message: AnyMessage) => 'method' in message || asked.delete(message.id);
  let line: Buffer[] = [];
  let lineBytes = 0;
  const add = (bytes: Buffer) => {
    lineBytes += bytes.length;
    if (lineBytes > mostLineBytes) line = [];
    else line.push(bytes);
  };
  const end = () => {
    const message = lineBytes > mostLineBytes ? null : parseMessage(Buffer.concat(line).toString('utf8'));
    line = [];
    lineBytes = 0;
    return message;
  };
  try {
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        add(chunk.subarray(from, at));
        from = at + 1;
        const message = end();
        if (message && isAwaited(message)) yield message;
      }
      add(chunk.subarray(from));
    }
  } catch {
    // Stdout was torn down with the process.
  }
  const message = end();
  if (message && isAwaited(message)) yield message;
}

function parseMessage(line: string): AnyMessage | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    const message = JSON.parse(line) as Record<string, unknown>;
    return message.jsonrpc === '2.0' && ('method' in message || 'id' in message) ? (message as AnyMessage) : null;
  } catch {
    return null;
  }
}
