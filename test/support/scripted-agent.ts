import { readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

// An ACP agent in a separate program that follows a script, even where the protocol forbids it. It speaks raw JSON-RPC, because
// the SDK would not let it misbehave. The script is in the file that its argument names.

/** A line: plain text, or `{update}`, a message with a `method`, or the `{result}` or `{error}` of the request. */
type Line =
  | string
  | { update: object; sessionId?: string }
  | { method: string }
  | { result: unknown }
  | { error: unknown };

type Step =
  /** Sends lines to the client in one chunk. */
  | { write: Line[] }
  /** Sends a request to the client, and reports its response. */
  | { ask: { method: string; params: unknown } }
  | { wait: 'cancel' }
  | { sleepMs: number }
  /** Starts a child, `escaped` in a separate session, and reports its process id. */
  | { spawn: 'escaped' | 'helper' }
  | { exit: number }
  | { stderr: string };

/** The steps for each method, in order. Without a script it opens a session `s1` and answers nothing else. */
export type Script = Record<string, Step[]>;

const script: Script = JSON.parse(readFileSync(process.argv[2] as string, 'utf8'));
const fallback: Script = {
  initialize: [{ write: [{ result: { protocolVersion: 1, agentCapabilities: {} } }] }],
  'session/new': [{ write: [{ result: { sessionId: 's1' } }] }],
};

let nextId = 1;
const answers = new Map<number, (message: Message) => void>();
const cancels = new Set<() => void>();

interface Message {
  id?: number;
  method?: string;
  result?: unknown;
  error?: unknown;
}

function line(each: Line, id: number | undefined): string {
  if (typeof each === 'string') return each;
  if ('update' in each) {
    return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', ...each } });
  }
  return JSON.stringify('method' in each ? { jsonrpc: '2.0', ...each } : { jsonrpc: '2.0', id, ...each });
}

// Synchronous, so that it is written before an exit; a pipe may take only a part at once.
function put(text: string): void {
  for (let rest = Buffer.from(text); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

async function play(message: Message): Promise<void> {
  for (const step of script[message.method ?? ''] ?? fallback[message.method ?? ''] ?? []) {
    if ('write' in step) put(`${step.write.map((each) => line(each, message.id)).join('\n')}\n`);
    else if ('stderr' in step) writeSync(2, step.stderr);
    else if ('exit' in step) process.exit(step.exit);
    else if ('wait' in step) await new Promise<void>((resolve) => cancels.add(resolve));
    else if ('sleepMs' in step) await new Promise((resolve) => setTimeout(resolve, step.sleepMs));
    else if ('spawn' in step) await spawnChild(step.spawn === 'escaped');
    else await ask(step.ask);
  }
}

async function ask(request: { method: string; params: unknown }): Promise<void> {
  const id = nextId++;
  const answer = new Promise<Message>((resolve) => answers.set(id, resolve));
  put(`${JSON.stringify({ jsonrpc: '2.0', id, ...request })}\n`);
  const { result, error } = await answer;
  say(JSON.stringify(result ?? error));
}

function say(text: string): void {
  const update = { sessionUpdate: 'agent_message_chunk', messageId: `${nextId++}`, content: { type: 'text', text } };
  put(`${line({ update }, undefined)}\n`);
}

// A child in a separate session, like agents' shells: signals to the process group do not reach it.
async function spawnChild(detached: boolean): Promise<void> {
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'], { detached, stdio: 'inherit' });
  child.unref();
  say(String(child.pid));
}

createInterface({ input: process.stdin }).on('line', (text) => {
  const message = JSON.parse(text) as Message;
  if (message.method === 'session/cancel') for (const resolve of cancels) resolve();
  else if (message.method !== undefined) void play(message);
  else answers.get(message.id as number)?.(message);
});
