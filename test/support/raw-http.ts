import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request on the wire. */
export interface WireRequest {
  readonly line: string;
  /** In order; names in lower case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** True if the request is complete. */
  readonly isComplete: boolean;
}

/**
 * Reads all pipelined requests from a connection's data like the strictest server: each line ends with CRLF, a body needs either
 * one length or "chunked". Throws for anything else.
 */
export function readRequests(bytes: Buffer): WireRequest[] {
  const found: WireRequest[] = [];
  let rest = bytes.toString('latin1');
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return [...found, { line: rest, headers: [], body: '', isComplete: false }];
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n');
    if (!/^[A-Z]+ \/\S* HTTP\/1\.1$/.test(line)) throw new Error(`No request line: ${JSON.stringify(line)}`);
    const headers = lines.map((each) => {
      const [, name, value] = /^([\w-]+): ([^\r\n]*)$/.exec(each) ?? [];
      if (name === undefined || value === undefined) throw new Error(`No header: ${JSON.stringify(each)}`);
      return [name.toLowerCase(), value] as const;
    });
    const [framing, ...others] = headers.filter(([name]) => name === 'content-length' || name === 'transfer-encoding');
    if (others.length > 0) throw new Error('The body is framed twice.');
    const body = readBody(rest.slice(end + 4), framing);
    found.push({ line, headers, body: body.text, isComplete: body.isComplete });
    if (!body.isComplete) return found;
    rest = body.rest;
  }
  return found;
}

function readBody(text: string, framing: readonly [string, string] | undefined) {
  if (framing === undefined) return { text: '', isComplete: true, rest: text };
  const [name, value] = framing;
  if (name === 'content-length') {
    if (!/^\d+$/.test(value)) throw new Error(`No length: ${value}`);
    const length = Number(value);
    return { text: text.slice(0, length), isComplete: text.length >= length, rest: text.slice(length) };
  }
  if (value !== 'chunked') throw new Error(`Another coding: ${value}`);
  let body = '';
  for (let rest = text; ; ) {
    const [head, size] = /^([0-9a-f]+)\r\n/i.exec(rest) ?? [];
    const length = Number.parseInt(size ?? '', 16);
    const chunk = head === undefined ? '' : rest.slice(head.length, head.length + length);
    if (head === undefined || rest.length < head.length + length + 2)
      return { text: body, isComplete: false, rest: '' };
    rest = rest.slice(head.length + length + 2);
    body += chunk;
    if (length === 0) return { text: body, isComplete: true, rest };
  }
}

/** One end of a connection, at the byte level. */
export interface Wire {
  readonly socket: Socket;
  /** The data so far. */
  received(): Buffer;
  send(text: string | Buffer): void;
  /** Resolves with all data once it matches. Rejects when the connection closes before. */
  waitFor(pattern: RegExp): Promise<string>;
  /** Resolves with all data when the connection is closed. Never rejects. */
  readonly closed: Promise<string>;
}

function wireOf(socket: Socket): Wire {
  const chunks: Buffer[] = [];
  const received = () => Buffer.concat(chunks);
  let check: () => void = () => undefined;
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    chunks.push(chunk);
    check();
  });
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => resolve(received().toString('latin1')));
  });
  return {
    socket,
    received,
    send: (text) => void socket.write(text),
    waitFor: (pattern) =>
      new Promise((resolve, reject) => {
        check = () => {
          const text = received().toString('latin1');
          if (pattern.test(text)) resolve(text);
        };
        check();
        void closed.then((text) => reject(new Error(`Closed before ${pattern} came: ${JSON.stringify(text)}`)));
      }),
    closed,
  };
}

/** Connects to a port on loopback or to a unix socket; the test's end closes it. */
export function connectRaw(at: number | string): Wire {
  const socket = typeof at === 'number' ? connect(at, '127.0.0.1') : connect(at);
  onTestFinished(() => void socket.destroy());
  return wireOf(socket);
}

/** A provider at the byte level. */
export interface RawProvider {
  readonly url: string;
  /** Its connections in the order of their arrival. */
  readonly wires: readonly Wire[];
  /** Returns every request of every connection. Throws if one of them has other data. */
  requests(): WireRequest[];
  /** Resolves with the connection with this index once it exists. */
  wire(index: number): Promise<Wire>;
  close(): void;
}

/** Returns a response with a JSON body. It keeps the connection open, so that a second request on it would be noticed. */
export const okResponse = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

/** Runs {@link openRawProvider} until the end of the test. */
export async function startRawProvider(answer?: (wire: Wire) => void): Promise<RawProvider> {
  const provider = await openRawProvider(answer);
  onTestFinished(() => provider.close());
  return provider;
}

/**
 * Opens a provider that calls `answer` for each connection after its first complete request; by default it sends
 * {@link okResponse}. It never closes a connection itself.
 */
export async function openRawProvider(
  answer: (wire: Wire) => void = (wire) => wire.send(okResponse),
): Promise<RawProvider> {
  const wires: Wire[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((socket) => {
    const wire = wireOf(socket);
    let isAnswered = false;
    socket.on('data', () => {
      if (isAnswered || !readRequests(wire.received())[0]?.isComplete) return;
      isAnswered = true;
      answer(wire);
    });
    wires.push(wire);
    for (const wake of waiting.splice(0)) wake();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    close() {
      for (const { socket } of wires) socket.destroy();
      server.close();
    },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    wires,
    requests: () => wires.flatMap((wire) => readRequests(wire.received())),
    async wire(index) {
      while (wires[index] === undefined) await new Promise<void>((resolve) => waiting.push(resolve));
      return wires[index];
    },
  };
}
