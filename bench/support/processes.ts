import { type ChildProcess, fork, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** A program that is measured or that measures. */
export interface Running {
  readonly pid: number;
  /** Its output, stdout and stderr. */
  output(): string;
  /** Resolves with the first match in its output; rejects with all of its output if it ends before. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray>;
  /** SIGTERM, and SIGKILL after ten seconds. */
  stop(): Promise<void>;
}

/** Starts a program. It is killed with this process. */
export function start(command: string, args: readonly string[], options: SpawnOptions): Running {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  let hasEnded = false;
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      for (const check of watchers) check();
    });
  }
  child.once('error', (error) => {
    text += error.message;
  });
  child.once('close', () => {
    hasEnded = true;
    for (const check of watchers) check();
  });
  const stop = stopper(child);
  return {
    pid: child.pid ?? 0,
    output: () => text,
    stop,
    waitForOutput: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = pattern.exec(text);
          if (!match && !hasEnded) return;
          watchers.delete(check);
          if (match) resolve(match);
          else reject(new Error(`${command} ${args.join(' ')} ended before it was ready:\n${text}`));
        };
        watchers.add(check);
        check();
      }),
  };
}

function stopper(child: ChildProcess): () => Promise<void> {
  const gone = child.exitCode !== null ? Promise.resolve() : once(child, 'close').then(() => undefined);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  return async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(kill, 10_000);
    await gone;
    clearTimeout(timer);
    process.off('exit', kill);
  };
}

/** A script of `bench/support` in a separate process that answers requests one at a time, in order. */
export interface Script {
  readonly pid: number;
  /** Rejects with the script's error. */
  ask<T>(request: object): Promise<T>;
  stop(): Promise<void>;
}

/** Starts a script that calls {@link serveRequests}. */
export function startScript(name: string, args: readonly string[] = []): Script {
  const path = new URL(`./${name}.ts`, import.meta.url).pathname;
  const child = fork(path, args, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const stop = stopper(child);
  let last: Promise<unknown> = Promise.resolve();
  const askNow = (request: object) =>
    new Promise((resolve, reject) => {
      const ended = () => reject(new Error(`bench/support/${name}.ts ended.`));
      child.once('exit', ended);
      child.once('message', ({ answer, error }: { answer?: unknown; error?: string }) => {
        child.off('exit', ended);
        if (error === undefined) resolve(answer);
        else reject(new Error(error));
      });
      child.send(request);
    });
  return {
    pid: child.pid ?? 0,
    stop,
    ask<T>(request: object) {
      const next = last.then(() => askNow(request));
      last = next.catch(() => undefined);
      return next as Promise<T>;
    },
  };
}

/** For such a script: answers the requests of the parent process. */
export function serveRequests<T>(answer: (request: T) => Promise<unknown>): void {
  process.on('message', (request: T) => {
    answer(request).then(
      (value) => process.send?.({ answer: value }),
      (error: Error) => process.send?.({ error: error.stack ?? error.message }),
    );
  });
  process.once('disconnect', () => process.exit());
}

/** The total CPU time of a process's threads, user and system, in milliseconds; the kernel counts in steps of 10. */
export function cpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // After the name, which may contain anything: utime and stime are fields 14 and 15.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!match) throw new Error(`Process ${pid} has no VmRSS: has it ended?`);
  return Number(match[1]) * 1_024;
}
