import type { Readable, Writable } from 'node:stream';
import { storable } from '../../common/plain-text.ts';
import { AgentCrash, type AgentLaunch, type AgentUpdate } from '../agent.ts';
import type { FailureMonitor } from '../gateway/failure-monitor.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { QuotaMonitor } from '../quota/quota-monitor.ts';
import type { Period, ProcessExit, SandboxProcess } from '../sandbox/driver.ts';
import { agentEnvironment, openAgentGateway } from './environment.ts';
import { createPace } from './pace.ts';

/** The maximum length of stderr kept for the log. */
const stderrTailCharacters = 4_000;
/** The cost of processing one chunk of stderr. */
const stderrChunkMs = 0.2;
/** Masking shorter values would garble ordinary words. */
const minMaskedLength = 6;
/** The process of an agent in its sandbox. */
export interface Child {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves with a description of its end; never rejects. */
  readonly exited: Promise<string>;
  /** The refusals that its gateway has seen; null: it has no gateway. */
  readonly quota: QuotaMonitor | null;
  /** The failures of calls that its gateway has seen; null: it has no gateway. */
  readonly failures: FailureMonitor | null;
  /** The end of its stderr, masked. */
  stderrTail(): string;
  /** Kills it at once for its behaviour. `sentence` then explains its end, instead of its exit code. */
  killWithReason(sentence: string): void;
  /** The sentence of {@link Child.killWithReason}; null if it was not called. */
  killReason(): string | null;
  /** Masks the values of the child's environment variables in a text for users or logs. */
  mask(text: string): string;
  /** Kills it at once. {@link Child.stop} is still necessary. */
  kill(): void;
  /** See {@link SandboxProcess.killCommands}. */
  killCommands(startedIn: Period): Promise<void>;
  /** Stops it and everything that it started, within the graces of its profile. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts the profile's command in the sandbox, and the gateway if the profile needs one. Usage goes to `onUsage` in
 * order, and all of it before the child counts as stopped. Rejects with {@link AgentCrash} if the program cannot start;
 * nothing is left running then.
 */
export async function startChild(
  launch: AgentLaunch,
  onUsage: (usage: AgentUpdate & { type: 'usage' }) => Promise<void>,
): Promise<Child> {
  let reported: Promise<void> = Promise.resolve();
  const reportUsage = (usage: AgentUpdate & { type: 'usage' }) => {
    reported = onUsage(usage);
  };
  const { profile, sandbox } = launch;
  const agentGateway = await openAgentGateway(launch, reportUsage).catch((error: unknown) => {
    throw cannotStart(profile.id, error);
  });
  try {
    const process = await sandbox.start({ command: profile.command, env: agentEnvironment(launch, agentGateway) });
    const values = [
      ...Object.values(profile.env),
      ...Object.values(launch.env),
      ...(agentGateway ? [agentGateway.gateway.key] : []),
    ];
    const stop = async () => {
      await process.stop(profile.stopGraces);
      await agentGateway?.gateway.close();
      await reported;
    };
    return supervise(process, values, agentGateway?.gateway ?? null, stop);
  } catch (error) {
    await agentGateway?.gateway.close();
    throw cannotStart(profile.id, error);
  }
}

// Masks the values in everything that the process says of itself.
function supervise(
  process: SandboxProcess,
  values: readonly string[],
  gateway: Gateway | null,
  stop: () => Promise<void>,
): Child {
  let tail = '';
  const pace = createPace();
  const { stdin, stdout, stderr } = process;
  stderr.setEncoding('utf8').on('data', (text: string) => {
    // Keeps more than it returns, so that a value cut at its start is not part of the result.
    tail = (tail + text).slice(-2 * stderrTailCharacters);
    const rest = pace.spend(stderrChunkMs);
    if (rest === null) return;
    stderr.pause();
    void rest.then(() => stderr.resume());
  });
  // Longest first, so that a value that contains another one is masked completely.
  const masked = values.filter((value) => value.length >= minMaskedLength).sort((a, b) => b.length - a.length);
  const mask = (text: string) => storable(masked.reduce((rest, value) => rest.replaceAll(value, '********'), text));
  let killReason: string | null = null;
  return {
    stdin,
    stdout,
    exited: process.exited.then(howItEnded),
    quota: gateway?.quota ?? null,
    failures: gateway?.failures ?? null,
    stderrTail: () => mask(tail).slice(-stderrTailCharacters),
    killWithReason(sentence) {
      killReason ??= sentence;
      process.kill();
    },
    killReason: () => killReason,
    mask,
    kill: () => process.kill(),
    killCommands: async (startedIn) => process.killCommands?.(startedIn),
    stop,
  };
}

function howItEnded({ code, signal, reason }: ProcessExit): string {
  return reason ?? (signal === null ? `exit code ${code}` : `signal ${signal}`);
}

/** Returns the crash of an agent that its driver could not start, or whose sandbox it could not open. */
export function cannotStart(profileId: string, error: unknown): AgentCrash {
  const { code, message } = error as NodeJS.ErrnoException;
  // Node's message about an invalid variable quotes its value, which may be a secret, so only the code is used.
  const cause = spawnErrors[code ?? ''] ?? message;
  // A missing program, or one that this user may not run, will still fail in a minute.
  const reason = ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'ENOSANDBOX'].includes(code ?? '') ? 'program' : 'crash';
  return new AgentCrash(`The agent "${profileId}" cannot be started: ${cause.replace(/\.$/, '')}.`, '', reason);
}

const spawnErrors: Partial<Record<string, string>> = {
  'E2BIG': 'its arguments and variables are longer than this system allows (E2BIG)',
  'ERR_INVALID_ARG_VALUE': 'its command, or a variable that it is given, holds a NUL character',
};
