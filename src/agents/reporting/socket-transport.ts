import type { Socket } from 'node:net';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createPace } from '../acp/pace.ts';
import { ChunkBuffer } from './chunk-buffer.ts';

/** The maximum size of one message: a structured output of 256 KB fits, even with each character escaped. */
const maxKilobytes = 640;
const maxMessageBytes = maxKilobytes * 1_024;
/** The maximum number of arguments of a call, and of fields around them: checks take time for each. */
const maxNames = 1_000;
/** The number of bytes kept from both ends of a larger message, to find the id for its refusal. */
const edgeBytes = 512;
const newline = 10;
/** The cost of a message besides parsing its line. */
const messageMs = 0.1;

/**
 * Counts an agent's calls in progress, on all of its connections together. After a wait, there may again be no free
 * slot.
 */
export interface Slots {
  /** A promise while there are too many. */
  free(): Promise<void> | null;
  acquire(): void;
  release(): void;
}

/** Creates slots for `max` calls. */
export function createSlots(max: number): Slots {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return {
    free: () => (taken < max ? null : new Promise((resolve) => waiting.push(resolve))),
    acquire() {
      taken++;
    },
    release() {
      taken--;
      for (const wake of waiting.splice(0)) wake();
    },
  };
}

/**
 * MCP messages over a socket, one per line. Reading pauses while too many calls are in progress, or while the other
 * side does not read the responses. A call that is too large is refused by its id.
 */
export class SocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #socket: Socket;
  readonly #slots: Slots;
  readonly #open = new Set<string | number>();
  #isClosed = false;

  constructor(socket: Socket, slots: Slots) {
    this.#socket = socket;
    this.#slots = slots;
  }

  async start(): Promise<void> {
    void this.#read().catch(() => undefined);
  }

  /** Resolves once the other side accepts it. */
  async send(message: JSONRPCMessage): Promise<void> {
    try {
      await new Promise<void>((resolve) => this.#socket.write(`${JSON.stringify(message)}\n`, () => resolve()));
    } finally {
      if (!('method' in message) && this.#open.delete(message.id as string | number)) this.#slots.release();
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    for (const _ of this.#open) this.#slots.release();
    this.#open.clear();
    this.onclose?.();
  }

  async #read(): Promise<void> {
    const pace = createPace();
    try {
      for await (const line of readLines(this.#socket)) {
        const startedAt = performance.now();
        const message = 'ends' in line ? null : parse(line.whole);
        await pace.spend(performance.now() - startedAt + messageMs);
        if ('ends' in line) await this.#refuse(idIn(line.ends));
        else if (message !== null) await this.#take(message);
      }
    } finally {
      await this.close();
    }
  }

  async #take(message: Message): Promise<void> {
    const { id, method } = message;
    if (method !== undefined && id !== undefined) {
      if (hasTooManyNames(message)) return this.#refuse(id);
      for (let full = this.#slots.free(); full !== null; full = this.#slots.free()) await full;
      // A repeated id is not another call.
      if (this.#open.has(id)) return;
      this.#open.add(id);
      this.#slots.acquire();
    }
    this.onmessage?.(message as JSONRPCMessage);
  }

  async #refuse(id: string | number | null): Promise<void> {
    // Without an id there is nobody to answer; closing the connection is the answer.
    if (id === null) throw new Error('A message is too large.');
    const text = `The call is too large: it may take at most ${maxKilobytes} KB, and have at most ${maxNames} arguments.`;
    await this.send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }], isError: true } });
  }
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly arguments?: unknown; readonly _meta?: unknown };
}

// The server checks the parameters of a method; this only checks the form of a message.
function parse(line: Buffer): Message | null {
  try {
    const { id, method, params, jsonrpc } = JSON.parse(line.toString('utf8')) as Record<string, unknown>;
    const isKnown = id === undefined || typeof id === 'string' || Number.isSafeInteger(id);
    const isCall =
      typeof method === 'string' && (params === undefined || (typeof params === 'object' && params !== null));
    if (jsonrpc !== '2.0' || !isKnown || !isCall) return null;
    return {
      jsonrpc,
      method,
      ...(id === undefined ? {} : { id }),
      ...(params === undefined ? {} : { params }),
    } as unknown as Message;
  } catch {
    return null;
  }
}

function hasTooManyNames({ params }: Message): boolean {
  const sizes = [params, params?.arguments, params?._meta].map((fields) => Object.keys(fields ?? {}).length);
  return sizes.some((size) => size > maxNames);
}

// Programs write the id first or last; the arguments in between may contain anything.
function idIn([head, tail]: readonly [Buffer, Buffer]): string | number | null {
  const id = '"id"\\s*:\\s*(\\d{1,15}|"[\\w.:-]{1,100}")';
  const first = new RegExp(`^\\s*\\{\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?${id}\\s*,`).exec(
    head.toString('latin1'),
  );
  const last = new RegExp(`\\}\\s*,\\s*(?:"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*)?${id}\\s*\\}\\s*$`).exec(
    tail.toString('latin1'),
  );
  const found = first?.[1] ?? last?.[1];
  return found === undefined ? null : (JSON.parse(found) as string | number);
}

type Line = { readonly whole: Buffer } | { readonly ends: readonly [Buffer, Buffer] };

async function* readLines(socket: Socket): AsyncGenerator<Line> {
  let line = new ChunkBuffer();
  let bytes = 0;
  let head: Buffer | null = null;
  let tail: Buffer = Buffer.alloc(0);
  const add = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= maxMessageBytes) {
      line.add(part);
      return;
    }
    if (head === null) {
      const before = line.join();
      head = Buffer.concat([before, part]).subarray(0, edgeBytes);
      tail = before.subarray(-edgeBytes);
      line = new ChunkBuffer();
    }
    tail = Buffer.concat([tail, part.subarray(-edgeBytes)]).subarray(-edgeBytes);
  };
  const end = (): Line => {
    const done: Line = head === null ? { whole: line.join() } : { ends: [head, tail] };
    line = new ChunkBuffer();
    bytes = 0;
    head = null;
    return done;
  };
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      add(chunk.subarray(from, at));
      from = at + 1;
      yield end();
    }
    add(chunk.subarray(from));
  }
}
