import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { AgentCrash, type AgentLaunch } from '../agent.ts';
import { findByEnvironment, signalProcess } from '../process-identity.ts';
import { type ProcessSpool, runMark, workerMark } from '../process-spool.ts';

/** How much of stderr is kept for the log. */
const stderrTailCharacters = 4_000;

/** A spawned agent process, in a group of its own. */
export interface Child {
  readonly pid: number;
  readonly streams: ChildProcessWithoutNullStreams;
  /** Resolves with how it ended; never rejects. */
  readonly exited: Promise<string>;
  stderrTail(): string;
  /** End of stdin, SIGTERM, SIGKILL of the group, and a sweep for what left the group. */
  kill(): Promise<void>;
}

/** What every child of this worker shares. */
export interface ChildOptions {
  /** The variables of this process that a child may see. */
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly workerId: string;
  readonly spool: ProcessSpool;
}

/** Spawns the profile's command. Rejects with {@link AgentCrash} when the program cannot be started. */
export async function spawnChild(launch: AgentLaunch, options: ChildOptions): Promise<Child> {
  const { profile } = launch;
  const [program = '', ...args] = profile.command;
  const marks = { [workerMark]: options.workerId, [runMark]: launch.runId };
  const streams = spawn(program, args, {
    cwd: launch.workspaceDir,
    // Nothing of this process but what is named: its own environment holds keys and addresses.
    env: { ...options.baseEnv, ...profile.env, ...launch.env, HOME: launch.homeDir, ...marks },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let tail = '';
  streams.stderr.setEncoding('utf8').on('data', (text: string) => {
    tail = (tail + text).slice(-stderrTailCharacters);
  });
  // A write to an agent that has gone is reported by its exit; an unheard error here would end this process.
  for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.on('error', () => undefined);
  const spawned = new Promise<void>((resolve, reject) => {
    streams.once('spawn', resolve);
    streams.once('error', (error) =>
      reject(new AgentCrash(`The agent "${profile.id}" cannot be started: ${error.message}.`)),
    );
  });
  const exited = new Promise<string>((resolve) => {
    streams.once('error', (error) => resolve(error.message));
    streams.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  await spawned;
  const pid = streams.pid as number;
  await options.spool.add(pid, launch.runId);

  const isGoneWithin = (ms: number) => within(exited, ms);
  return {
    pid,
    streams,
    exited,
    stderrTail: () => tail,
    async kill() {
      const { stdinMs, termMs } = profile.stopGraces;
      streams.stdin.end();
      if (!(await isGoneWithin(stdinMs))) {
        signalProcess(-pid, 'SIGTERM');
        if (!(await isGoneWithin(termMs))) signalProcess(-pid, 'SIGKILL');
      }
      await exited;
      // Also after an orderly end: what the agent started may still run, in its group or out of it.
      signalProcess(-pid, 'SIGKILL');
      for (const left of findByEnvironment(marks)) signalProcess(left, 'SIGKILL');
      await options.spool.remove(pid);
    },
  };
}

/** Whether something settles in time. The timer does not keep the process alive. */
export function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms).unref();
    const settled = () => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
