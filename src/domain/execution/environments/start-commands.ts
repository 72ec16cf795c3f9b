import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import type { Sandbox, SandboxProcess } from '../../../agents/sandbox/driver.ts';
import { within } from '../../../common/within.ts';
import { sessionDirectory } from '../prompts/session-files.ts';
import { shellIn } from './run-command.ts';

/** A start command that runs. */
export interface StartedCommand {
  /** Its exit code; null: it continues in the background. */
  readonly code: number | null;
  /** The path of the file with its output, relative to the workspace. */
  readonly logPath: string;
  /** Ends it and everything that it started. Never rejects. */
  stop(): Promise<void>;
}

/** The directory of the outputs in the workspace. */
const directory = 'start';

/** The time after which a command continues in the background. */
const waitMs = 3_000;
const graces = { stdinMs: 0, termMs: 2_000 };

// The command has no way to the standard output, which has its exit code. The shell stays, because the end of a sandbox's first process
// ends what the command has put into the background.
const script =
  'sh -c "$2" </dev/null >"$3" 2>&1; printf "%d\\n" "$?"; exec sleep 2147483647 </dev/null >/dev/null 2>&1';

/**
 * Starts a command beside the agent: until it ends, or for three seconds. Its output goes to a file in the workspace. Rejects with an error with
 * the system's `code` if the shell cannot start.
 */
export async function startCommand(
  sandbox: Sandbox,
  request: {
    readonly command: string;
    readonly directory: string;
    readonly env: Readonly<Record<string, string>>;
    readonly name: string;
  },
): Promise<StartedCommand> {
  const { command, env, name } = request;
  const file = `${name}.log`;
  // An earlier run, or the agent, may have left a link there.
  await sandbox.files.inDirectory([sessionDirectory, directory], (log) => log.write(file, ''));
  const logPath = `${sessionDirectory}/${directory}/${file}`;
  const args = [...shellIn(script, request.directory, command), posix.join(sandbox.paths.workspace, logPath)];
  const process = await sandbox.start({ command: args, env });
  process.stdin.end();
  process.stderr.resume();
  const code = readCode(process);
  const isDone = await within(code, waitMs);
  return { code: isDone ? await code : null, logPath, stop: () => process.stop(graces) };
}

/** Reads the end of the output of a start command, at most `maxBytes`. The file belongs to the agent. */
export async function readLogEnd({ files }: Pick<Sandbox, 'files'>, path: string, maxBytes: number): Promise<string> {
  const stream = await files.read(path);
  if (stream === null) return '';
  let end = Buffer.alloc(0);
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      end = Buffer.concat([end, chunk]).subarray(-maxBytes);
      bytes += chunk.length;
      if (bytes > maxReadBytes) break;
    }
  } catch {
    // The agent's own processes may remove it.
  } finally {
    stream.destroy();
  }
  return end.toString('utf8');
}

/** The most that is read of an output. */
const maxReadBytes = 16 * 1_048_576;

// A shell that ended before it could print has failed.
function readCode({ stdout, exited }: SandboxProcess): Promise<number> {
  return new Promise((resolve) => {
    let text = '';
    (stdout as Readable).on('data', (chunk: Buffer) => {
      if (text.length < 100) text += chunk.toString('latin1');
      const code = /^(\d+)\n/.exec(text)?.[1];
      if (code !== undefined) resolve(Number(code));
    });
    void exited.then(({ code }) => resolve(code || 1));
  });
}
