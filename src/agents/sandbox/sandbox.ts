import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BwrapOptions, defaultTmpMb, sandboxUid, wrapWithBwrap } from './bwrap.ts';
import { type Hardening, hardeningsToTry, missingProtections } from './hardening.ts';
import { findProgram } from './program-files.ts';
import { hostPaths, type SandboxCommand, type SandboxedLaunch, type SandboxRequest } from './sandbox-command.ts';
import { spawnAgent } from './spawn-agent.ts';
import { wrapWithCommand } from './wrap-with-command.ts';

/** The values of SANDBOX: `auto` uses a sandbox if possible, `bwrap` refuses to start without one. */
export const sandboxChoices = ['auto', 'none', 'bwrap'] as const;

/** The isolation of this process's agents from its host. */
export interface Sandbox {
  /** The driver of profiles that name none. */
  readonly driver: 'none' | 'bwrap';
  /**
   * Converts a launch to a command. Rejects with a sentence if its profile requires something that this host cannot do.
   */
  wrap(request: SandboxRequest): Promise<SandboxCommand>;
}

/** Options of {@link createSandbox}. */
export interface SandboxOptions {
  readonly choice: (typeof sandboxChoices)[number];
  /** A directory of this worker, for the files that identify an agent's user. */
  readonly directory: string;
  /** The PATH in which bubblewrap is searched. */
  readonly path: string;
  /** Absolute; see {@link BwrapOptions}. */
  readonly hidden: readonly string[];
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** The timeout of the trial: a program that hangs must not prevent the service from starting. */
const trialMs = 10_000;

/** No sandbox, for profiles that require none. */
export const withoutSandbox: Sandbox = {
  driver: 'none',
  async wrap(request) {
    const { sandbox } = request.launch.profile;
    if (sandbox?.driver === 'bwrap') throw sandboxError('this process does not use it');
    return sandbox?.driver === 'command' ? wrapWithCommand(sandbox, request) : hostCommand(request);
  },
};

/** Tries bubblewrap once and logs the result. Rejects if it is required and does not work. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { choice, log } = options;
  const bwrap = await openBwrap(options).catch((error: unknown) => (error as Error).message);
  const problem = typeof bwrap === 'string' ? bwrap : null;
  if (choice === 'bwrap' && problem !== null) throw new Error(`SANDBOX is "bwrap", and that does not work: ${problem}`);
  const driver = choice === 'none' || problem !== null ? 'none' : 'bwrap';
  if (choice === 'auto' && problem !== null) {
    log.warn({ problem }, 'Agents run without a sandbox: bubblewrap does not work here.');
  } else log.info({ sandbox: driver }, 'Agents have a sandbox, unless their profiles say otherwise.');
  const missing = typeof bwrap === 'string' ? [] : missingProtections(bwrap.hardening);
  if (missing.length > 0) log.warn({ missing }, 'The sandbox of bubblewrap lacks protections on this host.');
  return {
    driver,
    async wrap(request) {
      const settings = request.launch.profile.sandbox;
      if (settings?.driver === 'command') return wrapWithCommand(settings, request);
      if ((settings?.driver ?? driver) === 'none') return hostCommand(request);
      if (typeof bwrap === 'string') throw sandboxError(bwrap);
      return wrapWithBwrap(bwrap, request);
    },
  };
}

// Has a code like the system's own errors, for callers that classify them.
function sandboxError(problem: string): NodeJS.ErrnoException {
  const message = `its sandbox needs bubblewrap, which does not work: ${problem}`;
  return Object.assign(new Error(message), { code: 'ENOSANDBOX' });
}

function hostCommand({ launch }: SandboxRequest): SandboxCommand {
  const [program = '', ...args] = launch.profile.command;
  return { program, args, env: {}, inputs: [], paths: hostPaths(launch), isWrapped: false, stopCommand: [] };
}

async function openBwrap({ directory, path, hidden }: SandboxOptions): Promise<BwrapOptions> {
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
    const sandbox = {
      driver: 'bwrap',
      network: 'gateway',
      command: [],
      readOnly: [],
      tmpMb: defaultTmpMb,
      paths: null,
      stopCommand: [],
    } as const;
    const profile = { command: ['true'], sandbox };
    const launch: SandboxedLaunch = { profile, runId: '', workspaceDir: root, homeDir: root, runtimeDir: root };
    await run(wrapWithBwrap(bwrap, { launch, env: { PATH: path }, gatewaySocket: null }), root);
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
