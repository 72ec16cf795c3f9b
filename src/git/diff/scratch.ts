import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { removeTree } from '../../store/delete-tree.ts';
import { checkedGit } from '../checked-git.ts';
import { appendGitConfig } from '../git-config.ts';
import { RepositoryError } from '../repository-error.ts';
import { runGit } from '../run-git.ts';
import type { ChangeLimits } from './file-change.ts';

/** Returns a program with arguments that runs another program where these paths alone exist, beside the system's own. */
export type Confine = (paths: {
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}) => string[];

/** Options of a {@link Scratch}. */
export interface ScratchOptions {
  /** A directory of the service, in which the scratch directory is created. */
  readonly parent: string;
  /** The files of the clone: git's work tree. */
  readonly clone: string;
  /** The directories that git may read. An agent cannot replace them: the clone itself it could replace with a link. */
  readonly readable: readonly string[];
  /** The PATH in which git is searched. */
  readonly path: string;
  readonly confine: Confine | null;
  readonly limits: ChangeLimits;
  readonly signal: AbortSignal;
}

/** Options of one command. */
export interface ScratchCommand {
  /** True: the files of the clone are the work tree; otherwise there is none, so that no attribute of it counts. */
  readonly hasFiles?: boolean;
  /** Texts and outputs have one character for each byte. */
  readonly input?: string;
  /** Exit codes that are no error. */
  readonly accepted?: readonly number[];
}

/** An own repository outside of all workspaces, with its own configuration and index. */
export interface Scratch {
  /** Its git directory. */
  readonly gitDir: string;
  git(args: readonly string[], command?: ScratchCommand): Promise<string>;
  /** Passes the output on until `take` returns false, which ends git. */
  read(args: readonly string[], take: (chunk: Buffer) => boolean, command?: ScratchCommand): Promise<void>;
  /** Runs git while its output is read. The stream fails if git fails. */
  stream(args: readonly string[], maxBytes: number): Readable;
  /** Ends its commands and deletes its files. */
  close(): Promise<void>;
}

const maxOutputBytes = 96 * 1_048_576;

/** Creates a scratch repository for objects of a format. Rejects with RepositoryError. */
export async function openScratch(options: ScratchOptions, format: 'sha1' | 'sha256'): Promise<Scratch> {
  const { parent, clone, readable, path, confine, limits } = options;
  const directory = await mkdtemp(join(parent, 'changes-'));
  const gitDir = join(directory, 'repository');
  const closing = new AbortController();
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([options.signal, closing.signal, timeout]);
  const launcher = confine?.({ readable, writable: [directory] }) ?? [];
  const settings = appendGitConfig({}, [
    // Larger files count as binary, and git does not load them.
    ['core.bigFileThreshold', String(limits.maxFileBytes)],
    ['core.compression', '0'],
    ['core.packedGitWindowSize', '32m'],
    ['core.packedGitLimit', '256m'],
    ['core.precomposeUnicode', 'false'],
    ['core.safecrlf', 'false'],
    ['core.quotePath', 'true'],
    ['pack.threads', '1'],
  ]);
  const optionsOf = ({ hasFiles = false, input }: ScratchCommand, stop?: AbortSignal) => ({
    cwd: directory,
    path,
    launcher,
    maxMemoryBytes: limits.maxMemoryBytes,
    signal: stop === undefined ? signal : AbortSignal.any([signal, stop]),
    env: {
      ...settings,
      GIT_DIR: gitDir,
      GIT_INDEX_FILE: join(directory, 'index'),
      GIT_LITERAL_PATHSPECS: '1',
      ...(hasFiles && { GIT_WORK_TREE: clone }),
    },
    ...(input !== undefined && { input: Buffer.from(input, 'latin1') }),
  });
  const timedOut = (error: unknown) =>
    timeout.aborted && !options.signal.aborted
      ? new RepositoryError('TIMEOUT', `The comparison took more than ${Math.round(limits.timeoutMs / 1_000)} seconds.`)
      : error;
  const read: Scratch['read'] = async (args, take, command = {}) => {
    const stop = new AbortController();
    let failure: unknown = null;
    const onOutput = (chunk: Buffer) => {
      try {
        if (!stop.signal.aborted && !take(chunk)) stop.abort();
      } catch (error) {
        failure ??= error;
        stop.abort();
      }
    };
    try {
      const outcome = await runGit(args, { ...optionsOf(command, stop.signal), onOutput });
      const { code } = outcome;
      if (code === null || ![0, ...(command.accepted ?? [])].includes(code)) throw errorOf(outcome.stderr);
    } catch (error) {
      if (failure !== null) throw failure;
      if (!stop.signal.aborted) throw timedOut(error);
    }
  };
  const scratch: Scratch = {
    gitDir,
    read,
    async git(args, command) {
      const chunks: Buffer[] = [];
      let bytes = 0;
      await read(
        args,
        (chunk) => {
          bytes += chunk.length;
          if (bytes > maxOutputBytes) throw new RepositoryError('TOO_LARGE', 'The repository has too many files.');
          chunks.push(chunk);
          return true;
        },
        command,
      );
      return Buffer.concat(chunks).toString('latin1');
    },
    stream(args, maxBytes) {
      const output = new PassThrough();
      const stop = new AbortController();
      output.once('close', () => stop.abort());
      const command = optionsOf({}, stop.signal);
      let bytes = 0;
      const onOutput = async (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxBytes)
          output.destroy(new RepositoryError('TOO_LARGE', 'The changes are too large to download.'));
        if (output.destroyed || output.write(chunk)) return;
        await once(output, 'drain', { signal: command.signal }).catch(() => undefined);
      };
      runGit(args, { ...command, onOutput }).then(
        ({ code, stderr }) => (code === 0 ? output.end() : output.destroy(errorOf(stderr))),
        (error: unknown) => output.destroy(timedOut(error) as Error),
      );
      return output;
    },
    async close() {
      closing.abort();
      await removeTree(directory);
    },
  };
  try {
    await checkedGit(['init', '-q', '--bare', `--object-format=${format}`, gitDir], { cwd: directory, path, signal });
    return scratch;
  } catch (error) {
    await scratch.close();
    throw timedOut(error);
  }
}

function errorOf(stderr: string): RepositoryError {
  if (/No space left on device/i.test(stderr)) return new RepositoryError('DISK_FULL', 'The disk is full.');
  if (/[Oo]ut of memory/.test(stderr)) return new RepositoryError('TOO_LARGE', 'The comparison needs too much memory.');
  return new RepositoryError('REFUSED_CONTENT', 'Git cannot compare the files of the repository.');
}
