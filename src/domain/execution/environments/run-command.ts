import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { extended, maxRetainedCharacters, noOutput, type ToolOutput } from '../../../agents/acp/tool-output.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { within } from '../../../common/within.ts';

/** A shell command to run in a sandbox. */
export interface SandboxShellCommand {
  readonly command: string;
  /** The absolute path of its directory, as the sandbox sees it. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Kills it. */
  readonly signal: AbortSignal;
  /** Called with all of the output so far. */
  onOutput(output: ToolOutput): void;
}

/** The end of a command. */
export interface CommandEnd {
  /** Null: it ended by itself. */
  readonly cause: 'timeout' | 'flood' | 'stopped' | null;
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Standard output and standard error, in the order of their arrival. */
  readonly output: ToolOutput;
}

/** The size of output after which a command is killed. */
const maxOutputBytes = 64 * 1_048_576;
/** The time for the output that is still in the pipes when a command has ended; its own children may hold them open. */
const restMs = 500;
const graces = { stdinMs: 0, termMs: 2_000 };

/**
 * The arguments of a shell that runs a command in a directory. Both are arguments of their own, so that no character of them has a
 * meaning for this shell.
 */
export function shellIn(script: string, directory: string, command: string): string[] {
  return ['sh', '-c', `cd -- "$1" && ${script}`, 'sh', directory, command];
}

/**
 * Runs a shell command to its end in an open sandbox, and kills what it leaves running. Rejects with an error with the system's `code` if the
 * shell cannot start.
 */
export async function runCommand(sandbox: Sandbox, request: SandboxShellCommand): Promise<CommandEnd> {
  const { command, directory, env, timeoutMs, signal, onOutput } = request;
  signal.throwIfAborted();
  const process = await sandbox.start({ command: shellIn('exec sh -c "$2"', directory, command), env });
  let output = noOutput;
  let bytes = 0;
  let cause: CommandEnd['cause'] = null;
  const stop = (why: NonNullable<CommandEnd['cause']>) => {
    cause ??= why;
    process.kill();
  };
  const follow = (stream: Readable) => {
    const decoder = new StringDecoder('utf8');
    stream.on('data', (chunk: Buffer) => {
      if (cause === 'flood') return;
      bytes += chunk.length;
      output = extended(output, decoder.write(chunk), maxRetainedCharacters);
      onOutput(output);
      if (bytes > maxOutputBytes) stop('flood');
    });
    return new Promise<void>((resolve) => {
      for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
    });
  };
  const rest = Promise.all([follow(process.stdout), follow(process.stderr)]);
  const onAbort = () => stop('stopped');
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    process.stdin.end();
    const exit = await process.exited;
    await within(rest, restMs);
    return { cause, code: exit.code, signal: exit.signal, output };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    await process.stop(graces);
  }
}
