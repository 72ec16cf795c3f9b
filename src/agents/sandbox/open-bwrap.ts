import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BwrapOptions, defaultTmpMb, sandboxUid, wrapWithBwrap } from './bwrap.ts';
import { type Hardening, hardeningsToTry } from './hardening.ts';
import type { SandboxCommand, WrapRequest } from './local/sandbox-command.ts';
import { spawnAgent } from './local/spawn-agent.ts';
import { findProgram } from './program-files.ts';

/** Options of {@link openBwrap}. */
export interface OpenBwrapOptions {
  /** A directory of this worker, for the files that identify an agent's user. */
  readonly directory: string;
  /** The PATH in which bubblewrap is searched. */
  readonly path: string;
  /** Absolute; see {@link BwrapOptions}. */
  readonly hidden: readonly string[];
}

/** The timeout of the trial: a program that hangs must not prevent the service from starting. */
const trialMs = 10_000;

/** Tries bubblewrap once for each process and program. Rejects with a sentence if it does not work here. */
export async function openBwrap({ directory, path, hidden }: OpenBwrapOptions): Promise<BwrapOptions> {
  const program = process.platform === 'linux' ? findProgram('bwrap', path) : null;
  if (program === null) throw new Error('there is no program "bwrap" in PATH (install bubblewrap, on Linux)');
  const [uid, own] = [sandboxUid(), process.getuid?.()];
  const gid = own === uid ? process.getgid?.() : uid;
  const identity = { passwd: join(directory, 'passwd'), group: join(directory, 'group') };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(identity.passwd, `agent:x:${uid}:${gid}:Agent:/home/agent:/bin/sh\n`);
  await writeFile(identity.group, `agent:x:${gid}:\n`);
  const bwrap = { program, hidden, identity };
  const hardening = hardenings.get(program) ?? findHardening(bwrap, path);
  hardenings.set(program, hardening);
  return { ...bwrap, hardening: await hardening };
}

// The host's restrictions do not change during the life of a process.
const hardenings = new Map<string, Promise<Hardening>>();

// The best set of protections that works. Rejects with the problem of the last one, which needs only namespaces.
async function findHardening(bwrap: Omit<BwrapOptions, 'hardening'>, path: string): Promise<Hardening> {
  const help = await new Promise<string>((resolve) => {
    execFile(bwrap.program, ['--help'], { env: {}, timeout: trialMs }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
  let problem: unknown;
  for (const hardening of hardeningsToTry(help, process.arch)) {
    try {
      await tryHardening({ ...bwrap, hardening }, path);
      return hardening;
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

// Tries everything that a launch needs: hosts refuse one namespace or mount and allow another.
async function tryHardening(bwrap: BwrapOptions, path: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'switchyard-trial-'));
  try {
    const settings = {
      driver: 'bwrap',
      network: 'gateway',
      command: [],
      readOnly: [],
      tmpMb: defaultTmpMb,
      paths: null,
      stopCommand: [],
    } as const;
    const directories = { workspace: root, home: root, runtime: root };
    const env = { PATH: path };
    const request: WrapRequest = {
      command: ['true'],
      env,
      settings,
      directories,
      sessionId: '',
      borrowed: [],
      forwards: [],
    };
    await run(wrapWithBwrap(bwrap, request), root);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

// Rejects with the program's output if it fails or takes too long.
async function run(command: SandboxCommand, cwd: string): Promise<void> {
  const child = spawnAgent(command, { cwd, env: {} });
  const timer = setTimeout(() => child.kill('SIGKILL'), trialMs);
  let output = '';
  child.stdin.on('error', () => undefined).end();
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (code !== 0) throw new Error(output.trim() || `it ended with ${signal ?? `exit code ${code}`}`);
  } finally {
    clearTimeout(timer);
  }
}
