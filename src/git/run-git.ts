import { spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { StringDecoder } from 'node:string_decoder';
import { appendGitConfig, type GitSetting } from './git-config.ts';
import { type GitProgress, readProgress } from './progress.ts';
import { RepositoryError } from './repository-error.ts';

/** Options of {@link runGit}. */
export interface RunGitOptions {
  readonly cwd: string;
  /** The PATH in which git and its own programs are searched. */
  readonly path: string;
  /** Variables for a remote: its settings by {@link appendGitConfig}. */
  readonly env?: Readonly<Record<string, string>>;
  /** The only transport that git may use; if missing: none. */
  readonly protocol?: 'http' | 'file';
  /** Ends git: SIGTERM, so that it removes its lock files, and SIGKILL after 5 s. */
  readonly signal: AbortSignal;
  /** A program with arguments that runs git, such as a sandbox; if missing: git is run directly. */
  readonly launcher?: readonly string[];
  /** The address space of git, in bytes; if missing: unlimited. */
  readonly maxMemoryBytes?: number;
  /** True if other work goes first: git gets a lower priority. */
  readonly isBackground?: boolean;
  /** The standard input; if missing: none. */
  readonly input?: Buffer;
  /** Called for each line of progress, which may be many in a second. Must not throw. */
  onProgress?(progress: GitProgress): void;
  /** Takes the output piece by piece, and slows git down until it resolves. Must not reject. The outcome has no stdout then. */
  onOutput?(chunk: Buffer): Promise<void> | void;
}

/** The end of a git command. */
export interface GitOutcome {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  /** The last lines of stderr, without progress. */
  readonly stderr: string;
}

// The limit of memory is the kernel's. Systems without it go on without one.
const limitMemory = 'ulimit -v "$0" 2>/dev/null; exec "$@"';

const maxOutputBytes = 32 * 1_048_576;
const maxErrorCharacters = 8_000;
const killGraceMs = 5_000;

// Errors of old and well-known repositories that harm nobody. The checks of names and of .gitmodules remain.
const harmlessFindings = [
  'badEmail',
  'badDate',
  'badDateOverflow',
  'badFilemode',
  'badTimezone',
  'emptyName',
  'missingEmail',
  'missingNameBeforeEmail',
  'missingSpaceBeforeDate',
  'missingSpaceBeforeEmail',
  'missingTaggerEntry',
  'nullSha1',
  'zeroPaddedDate',
  'zeroPaddedFilemode',
];

const settings: readonly GitSetting[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.askPass', ''],
  ['credential.helper', ''],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['init.templateDir', ''],
  ['init.defaultBranch', 'main'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['transfer.credentialsInUrl', 'die'],
  ['fetch.fsckObjects', 'true'],
  // Each fetch makes a pack: the size of a mirror is that of its packs.
  ['fetch.unpackLimit', '1'],
  ...harmlessFindings.map((name): GitSetting => [`fetch.fsck.${name}`, 'ignore']),
  ['safe.directory', '*'],
  ['safe.bareRepository', 'all'],
  ['advice.detachedHead', 'false'],
  ['http.followRedirects', 'false'],
  ['http.proxy', ''],
];

/**
 * Runs git without a shell and without the machine's configuration, hooks, filters, prompts and other programs. Resolves
 * also if git fails. Rejects with RepositoryError: `NO_GIT`, `STOPPED`, or `REFUSED_CONTENT` if the output is too long.
 */
export async function runGit(args: readonly string[], options: RunGitOptions): Promise<GitOutcome> {
  const { cwd, path, env = {}, protocol, launcher = [], maxMemoryBytes, input, signal, onProgress, onOutput } = options;
  if (signal.aborted) throw stopped();
  const limiter =
    maxMemoryBytes === undefined ? [] : ['/bin/sh', '-c', limitMemory, String(Math.ceil(maxMemoryBytes / 1_024))];
  const [program = 'git', ...rest] = [...launcher, ...limiter, 'git', ...args];
  const child = spawn(program, rest, {
    cwd,
    // A group of its own, because git starts programs that would otherwise outlive it.
    detached: true,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: {
      PATH: path,
      HOME: '/nonexistent',
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '',
      SSH_ASKPASS: '',
      GIT_LFS_SKIP_SMUDGE: '1',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_ALLOW_PROTOCOL: protocol ?? 'none',
      // Git refuses a single allocation that exceeds it, with an error that says so.
      ...(maxMemoryBytes !== undefined && { GIT_ALLOC_LIMIT: String(Math.ceil(maxMemoryBytes / 4)) }),
      ...env,
      ...appendGitConfig(env, settings),
    },
  });
  if (options.isBackground === true) lowerPriority(child.pid);
  const kill = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // It has ended.
    }
  };
  let timer: NodeJS.Timeout | null = null;
  const stop = () => {
    kill('SIGTERM');
    timer ??= setTimeout(() => kill('SIGKILL'), killGraceMs);
  };
  signal.addEventListener('abort', stop);
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Git may end before it has read all of it.
  child.stdin?.on('error', () => undefined).end(input);
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('The child process has no pipes.');
  stdout.on('data', (chunk: Buffer) => {
    if (onOutput !== undefined) {
      const taken = onOutput(chunk);
      if (taken === undefined) return;
      stdout.pause();
      void taken.then(() => stdout.resume());
      return;
    }
    bytes += chunk.length;
    if (bytes <= maxOutputBytes) chunks.push(chunk);
    else stop();
  });
  const errors = createErrorReader(onProgress);
  stderr.on('data', errors.take);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (signal.aborted) throw stopped();
    // The shell that limits the memory found no git.
    if (code === 127) throw noGit();
    if (bytes > maxOutputBytes) throw new RepositoryError('REFUSED_CONTENT', 'The repository has too many refs.');
    return { code, stdout: Buffer.concat(chunks).toString('utf8'), stderr: errors.text() };
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? noGit() : error;
  } finally {
    signal.removeEventListener('abort', stop);
    if (timer !== null) clearTimeout(timer);
    // Programs that git left.
    kill('SIGKILL');
  }
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended, or the system refuses: the priority stays.
  }
}

function stopped(): RepositoryError {
  return new RepositoryError('STOPPED', 'The clone was stopped.');
}

function noGit(): RepositoryError {
  return new RepositoryError('NO_GIT', 'Git is not installed on the worker. An administrator can install it.');
}

// Git ends lines of progress with a carriage return.
function createErrorReader(onProgress: RunGitOptions['onProgress']) {
  const decoder = new StringDecoder('utf8');
  let open = '';
  let kept = '';
  const takeLine = (line: string) => {
    const progress = readProgress(line);
    if (progress !== null) onProgress?.(progress);
    else if (line.trim() !== '') kept = `${kept}${line}\n`.slice(-maxErrorCharacters);
  };
  return {
    take(chunk: Buffer) {
      const lines = (open + decoder.write(chunk)).split(/[\r\n]/);
      // Without an end, a line is cut.
      open = (lines.pop() ?? '').slice(-maxErrorCharacters);
      for (const line of lines) takeLine(line);
    },
    text: () => (kept + open).trim(),
  };
}
