import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { ensureBuilt } from './built.ts';

/** A Switchyard as its users start it: a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** What it printed, stdout and stderr. */
  output(): string;
  /** `kill -9`; resolves when it has gone. */
  kill(): Promise<void>;
  /** SIGTERM; gives the exit code. */
  stop(): Promise<number | null>;
}

/** A fixed administrator's token for servers that are started again and again. */
export const bootstrapToken = `cog_${'a1B2'.repeat(10)}`;

/** A port that was free a moment ago: a restarted server must be found where it was. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function spawnServer(env: Record<string, string>): Promise<{ child: ChildProcess; output: () => string }> {
  await ensureBuilt();
  const child = spawn(process.execPath, ['dist/main.js'], {
    env: { PATH: process.env.PATH ?? '', BOOTSTRAP_TOKEN: bootstrapToken, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      child.emit('said');
    });
  }
  return { child, output: () => text };
}

/** Starts a server and waits until it listens. Rejects with what it printed when it ends before. */
export async function startServer(env: Record<string, string>): Promise<ServerProcess> {
  const { child, output } = await spawnServer(env);
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const address = /Switchyard is at (http:\S+?)\.\s/.exec(output())?.[1];
      if (address) resolve(address);
    };
    child.on('said', look);
    child.once('exit', () => reject(new Error(output())));
  });
  const gone = once(child, 'exit');
  return {
    url,
    pid: child.pid as number,
    output,
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async stop() {
      child.kill('SIGTERM');
      return (await gone)[0] as number | null;
    },
  };
}

/** Starts a server that is expected to refuse; gives its exit code and what it printed. */
export async function startRefused(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const { child, output } = await spawnServer(env);
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, output: output() };
}
