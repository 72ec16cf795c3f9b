import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { ensureBuilt } from './built.ts';
import { nodeOptions } from './node-options.ts';

/** A Switchyard in a separate process, as users start it. */
export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** Its output so far, stdout and stderr. */
  output(): string;
  /** Kills it with SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
  /** Stops it with SIGTERM; returns the exit code. */
  stop(): Promise<number | null>;
}

/** A fixed administrator's token, for servers that are restarted. */
export const bootstrapToken = `cog_${'a1B2'.repeat(10)}`;

/** The number of ports reserved for each test process, starting with its first one. */
const portsEach = 500;
const firstPort = 12_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 20) * portsEach;
let nextPortOffset = Math.floor(Math.random() * portsEach);

/**
 * Returns an unused port. A server that is killed and restarted must find it free again, so it is outside of the range that the
 * system gives to connections, and no other test process uses it.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < portsEach; tried++) {
    const port = firstPort + (nextPortOffset++ % portsEach);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`All ports from ${firstPort} to ${firstPort + portsEach - 1} are taken.`);
}

/** Open files that a process inherits in addition to its standard streams, by descriptor number. */
export type Inherited = Readonly<Record<number, number>>;

/** Returns the `stdio` of a process that inherits files. */
export function stdioWith(inherited: Inherited): StdioOptions {
  const numbers = Object.keys(inherited).map(Number);
  const stdio: ('ignore' | 'pipe' | number)[] = Array(Math.max(3, ...numbers.map((each) => each + 1))).fill('ignore');
  stdio.fill('pipe', 1, 3);
  for (const number of numbers) stdio[number] = inherited[number] as number;
  return stdio;
}

async function spawnServer(
  env: Record<string, string>,
  inherited: Inherited = {},
  directory = '.',
): Promise<{ child: ChildProcess; output: () => string }> {
  await ensureBuilt();
  const child = spawn(process.execPath, [...nodeOptions, join(directory, 'dist/main.js')], {
    env: { PATH: process.env.PATH ?? '', BOOTSTRAP_TOKEN: bootstrapToken, ...env },
    stdio: stdioWith(inherited),
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      child.emit('output');
    });
  }
  return { child, output: () => text };
}

/**
 * Starts a server and waits until it listens. Rejects with its output if it ends before. `directory` has another version, see
 * `newer-version.ts`.
 */
export async function startServer(
  env: Record<string, string>,
  inherited: Inherited = {},
  directory?: string,
): Promise<ServerProcess> {
  const { child, output } = await spawnServer(env, inherited, directory);
  const url = await new Promise<string>((resolve, reject) => {
    const check = () => {
      const address = /Switchyard is at (http:\S+?)\.\s/.exec(output())?.[1];
      if (address) resolve(address);
    };
    child.on('output', check);
    child.once('exit', () => reject(new Error(output())));
  });
  const gone = once(child, 'exit');
  const closed = once(child, 'close');
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
      const [code] = (await gone) as [number | null];
      // The end of its output may be read after its exit, unless one of its children keeps the output open.
      await Promise.race([closed, wait(1_000)]);
      return code;
    },
  };
}

/** Starts a server that is expected to fail; returns its exit code and its output. */
export async function startRefused(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const { child, output } = await spawnServer(env);
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, output: output() };
}

/** Runs one of the service's commands, and kills it with SIGKILL as soon as its output matches. Resolves when it has ended. */
export async function killCommand(
  name: string,
  env: Record<string, string>,
  args: string[],
  when: RegExp,
): Promise<void> {
  await ensureBuilt();
  const child = spawn(process.execPath, [...nodeOptions, `dist/cli/${name}.js`, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    stderr += more;
    if (when.test(stderr)) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal !== 'SIGKILL') throw new Error(`The command ended by itself: ${stderr}`);
}

/** Runs one of the service's commands, like `npm run NAME`. */
export const runCommand = (name: string, env: Record<string, string>, ...args: string[]) =>
  runCommandOf('.', name, env, ...args);

/** {@link runCommand} of another version, see `newer-version.ts`. */
export async function runCommandOf(directory: string, name: string, env: Record<string, string>, ...args: string[]) {
  await ensureBuilt();
  const child = spawn(process.execPath, [...nodeOptions, join(directory, `dist/cli/${name}.js`), ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    stdout += more;
  });
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    stderr += more;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
