// The subscribers, in a separate process: each has its own WebSocket.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { serveRequests } from './processes.ts';

/** A subscriber: `token` null for one of the bare server, which takes no operation. */
export interface Subscriber {
  readonly url: string;
  readonly token: string | null;
  readonly query: string;
  readonly variables: object;
}

/** Its requests. */
export type SubscribersRequest =
  /**
   * Opens them and waits until each has its first frame, except for the bare server, which sends none. Returns a frame.
   */
  | { readonly act: 'open'; readonly subscribers: readonly Subscriber[] }
  /** Waits until each has received exactly this number of frames since it was opened. */
  | { readonly act: 'wait'; readonly frames: number }
  /** The times from the send time in a message (`sent:<ns>;`) until its arrival, in ms; clears them. */
  | { readonly act: 'latencies' }
  /** The number of all frames since they were opened. */
  | { readonly act: 'count' }
  /** The frame that came last. */
  | { readonly act: 'lastFrame' };

interface Listener {
  readonly socket: WebSocket;
  frames: number;
}

const listeners: Listener[] = [];
let latencies: number[] = [];
let lastFrame = '';
let newest: Buffer = Buffer.alloc(0);
let problem: string | null = null;
let onChange: () => void = () => undefined;

async function open({ url, token, query, variables }: Subscriber): Promise<void> {
  const socket = new WebSocket(url, token === null ? [] : ['graphql-transport-ws'], { perMessageDeflate: false });
  const listener: Listener = { socket, frames: 0 };
  listeners.push(listener);
  socket.on('close', (code, reason) => {
    problem ??= `A socket was closed: ${code} ${reason}`;
    onChange();
  });
  await once(socket, 'open');
  if (token !== null) {
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
    const [ack] = await once(socket, 'message');
    if (!String(ack).includes('connection_ack')) throw new Error(`An ack was expected, but there came ${ack}`);
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query, variables } }));
  }
  socket.on('message', (data: Buffer) => take(listener, data));
}

const sentMark = Buffer.from('sent:');
const nextMark = Buffer.from('"type":"next"');
const errorsMark = Buffer.from('"errors":');

function take(listener: Listener, data: Buffer): void {
  const now = process.hrtime.bigint();
  if (!data.includes(nextMark) || data.includes(errorsMark)) {
    problem ??= `Not what was subscribed to: ${String(data).slice(0, 300)}`;
    onChange();
    return;
  }
  listener.frames += 1;
  const at = data.indexOf(sentMark);
  if (at !== -1) {
    const text = data.toString('latin1', at + 5, data.indexOf(';', at));
    latencies.push(Number(now - BigInt(text)) / 1e6);
  }
  newest = data;
  lastFrame = listener.frames === 1 && lastFrame === '' ? String(data) : lastFrame;
  onChange();
}

let frames = 0;
const total = () => listeners.reduce((sum, each) => sum + each.frames, 0);

// Counting all of them for each frame would cost more than the frames.
function waitFor(count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    frames = total();
    const wanted = count * listeners.length;
    const check = () => {
      if (problem !== null) reject(new Error(problem));
      if (problem !== null || frames < wanted) return;
      onChange = () => {
        frames += 1;
      };
      const odd = listeners.find((each) => each.frames !== count);
      if (odd) reject(new Error(`${count} frames were expected, but a subscriber had ${odd.frames}.`));
      else resolve();
    };
    onChange = () => {
      frames += 1;
      check();
    };
    check();
  });
}

serveRequests<SubscribersRequest>(async (request) => {
  if (request.act === 'wait') return waitFor(request.frames);
  if (request.act === 'count') return total();
  if (request.act === 'lastFrame') return String(newest);
  if (request.act === 'latencies') {
    const result = latencies;
    latencies = [];
    return result;
  }
  const from = listeners.length;
  for (let n = 0; n < request.subscribers.length; n += 50) {
    await Promise.all(request.subscribers.slice(n, n + 50).map(open));
  }
  if (request.subscribers.some(({ token }) => token !== null)) {
    await new Promise<void>((resolve, reject) => {
      onChange = () => {
        if (problem !== null) reject(new Error(problem));
        else if (listeners.slice(from).every((each) => each.frames > 0)) resolve();
      };
      onChange();
    });
    onChange = () => undefined;
  }
  return lastFrame;
});
