import { execFile } from 'node:child_process';
import { access, constants, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../config/config.ts';
import { type Finding, failure, ok, warning } from './finding.ts';

const commandMs = 10_000;
const mib = 1_048_576;
/** Less free space than this is an error, or a warning: an embedded database alone has 50 MB. */
const minFreeMb = { error: 200, warning: 2_048 };

/** Checks Node.js, and the programs that sessions with repositories need. */
export async function checkPrograms({
  path,
  node,
}: {
  readonly path: string;
  readonly node: string;
}): Promise<Finding[]> {
  const [git, lfs] = await Promise.all([
    versionOf('git', ['--version'], path),
    versionOf('git-lfs', ['--version'], path),
  ]);
  return [
    ok('node', `Node.js ${node}.`),
    git === null
      ? warning('git', 'There is no git in PATH: sessions cannot work on repositories.', 'Install git.')
      : ok('git', `${git}.`),
    lfs === null
      ? warning(
          'git-lfs',
          'There is no git-lfs in PATH: large files of repositories stay pointers.',
          'Install git-lfs if your repositories use it.',
        )
      : ok('git-lfs', `${lfs.split(' (')[0]}.`),
  ];
}

async function versionOf(program: string, args: readonly string[], path: string): Promise<string | null> {
  return promisify(execFile)(program, args, { env: { PATH: path }, timeout: commandMs }).then(
    ({ stdout }) => stdout.trim().split('\n')[0] ?? '',
    () => null,
  );
}

/** Checks the directories of the service: that it may write to them, and that there is space. */
export async function checkDirectories(config: Config): Promise<Finding[]> {
  const directories: [string, string][] = [
    ['DATA_DIR', config.dataDir],
    ...(config.s3 === null ? [['ATTACHMENTS_DIR', config.attachmentsDir] satisfies [string, string]] : []),
  ];
  return Promise.all(directories.map(([variable, directory]) => checkDirectory(variable, directory)));
}

async function checkDirectory(variable: string, directory: string): Promise<Finding> {
  const check = variable === 'DATA_DIR' ? 'data' : 'attachments';
  const existing = await nearestExisting(directory);
  const problem = await access(existing, constants.W_OK | constants.X_OK).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  );
  if (problem !== null) {
    const text = `This process may not write to ${existing} (${problem}).`;
    return failure(
      check,
      text,
      `Set ${variable} to a directory of the user that runs the service, or change its owner.`,
    );
  }
  const { bavail, bsize } = await statfs(existing);
  const freeMb = Math.floor((bavail * bsize) / mib);
  const made = existing === directory ? '' : ', which the first start creates';
  const text = `${directory}${made}: ${freeMb} MiB are free.`;
  const fix = `Free space, or set ${variable} to a larger disk.`;
  if (freeMb < minFreeMb.error) return failure(check, text, fix);
  return freeMb < minFreeMb.warning ? warning(check, text, fix) : ok(check, text);
}

async function nearestExisting(directory: string): Promise<string> {
  const isThere = await access(directory).then(
    () => true,
    () => false,
  );
  return isThere || dirname(directory) === directory ? directory : nearestExisting(dirname(directory));
}
