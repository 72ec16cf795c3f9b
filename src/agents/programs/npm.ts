import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram } from '../sandbox/program-files.ts';
import { noSpace } from './free-space.ts';
import { ProgramError, type ProgramErrorCode } from './program-error.ts';

/** Options of {@link installLocked}. */
export interface NpmOptions {
  /** The variables for npm, such as the registry's address and proxies. No others are passed on. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The maximum duration. */
  readonly timeoutMs: number;
  /** Called with the process group of npm. If it throws, npm is killed. */
  onStart(group: number): void;
}

const noNpm =
  'The program npm was not found: it belongs to Node.js, but some systems package it separately. Install it (on Debian: apt install npm), or install the agent by other means (docs/agents.md).';

// Install scripts are other people's programs, which would run with the rights of the service. A packument cannot replace
// a package: the lock has its checksum.
const options = [
  ...['--ignore-scripts', '--omit=dev', '--include=optional', '--no-audit', '--no-fund', '--no-update-notifier'],
  ...[
    '--global=false',
    '--workspaces=false',
    '--install-strategy=hoisted',
    '--legacy-peer-deps=false',
    '--engine-strict=false',
    '--no-color',
  ],
  ...[
    '--no-progress',
    '--loglevel=error',
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=1000',
    '--fetch-timeout=60000',
  ],
];

/**
 * Installs the packages of a directory's lock with npm, which checks them against the lock. The cache is a directory that
 * the caller deletes. Rejects with a {@link ProgramError}.
 */
export async function installLocked(
  directory: string,
  cache: string,
  { env, signal, timeoutMs, onStart }: NpmOptions,
): Promise<void> {
  const [program, ...first] = findNpm(env.PATH ?? '');
  if (program === undefined) throw new ProgramError('NO_NPM', noNpm);
  const args = [...first, 'ci', ...options, `--prefix=${directory}`, `--cache=${cache}`];
  // A group of its own: npm starts further processes.
  const child = spawn(program, args, { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const stop = () => killGroup(child);
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener('abort', stop);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-20_000);
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject).on('close', resolve);
      if (child.pid !== undefined) onStart(child.pid);
      if (signal.aborted) stop();
    });
    if (signal.aborted) throw new ProgramError('STOPPED', 'The installation was stopped.');
    if (code !== 0) throw errorOf(output, child.signalCode !== null);
  } finally {
    // Also if npm's group could not be recorded.
    if (child.exitCode === null && child.signalCode === null) stop();
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

// Node's own npm is used before another one in PATH.
function findNpm(path: string): string[] {
  const bin = dirname(process.execPath);
  const own = ['../lib/node_modules', 'node_modules'].map((folder) => join(bin, folder, 'npm/bin/npm-cli.js'));
  const found = own.find(isReadable);
  if (found !== undefined) return [process.execPath, found];
  const program = findProgram('npm', path);
  return program === null ? [] : [program];
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

const network =
  /E(?:NOTFOUND|CONNREFUSED|CONNRESET|TIMEDOUT|AI_AGAIN|HOSTUNREACH|NETUNREACH|PIPE|5\d\d)|ERR_SOCKET_TIMEOUT|FETCH_ERROR/;

// npm has no code of its own for an answer that no registry gives.
const nonsense = /invalid json response body|Invalid package manifest|\bundefined@/i;
const noRegistry =
  'The server that npm is set up with does not answer like a registry, as a login page of a network or a wrong address would. Check the registry and the proxy (npm config get registry, npm config get proxy).';

const reasons: readonly (readonly [pattern: RegExp, code: ProgramErrorCode, sentence: string])[] = [
  [
    /^EINTEGRITY$/,
    'INTEGRITY',
    'A package from the registry is not the one that was tested: its checksum differs. Nothing was installed. Check the registry that npm is set up with (npm config get registry).',
  ],
  [/^(?:ENOSPC|EDQUOT)$/, 'NO_SPACE', noSpace],
  [
    /^(?:EACCES|EPERM|EROFS)$/,
    'NO_PERMISSION',
    'The user of the service may not write to AGENTS_DIR, or npm may not read its configuration.',
  ],
  [
    /^E40[13]$/,
    'REFUSED',
    'The registry refused the request. Check the access token in the .npmrc of the user of the service.',
  ],
  [
    /^(?:E404|ETARGET)$/,
    'NOT_FOUND',
    'The registry does not have the pinned version of a package. Check the registry that npm is set up with (npm config get registry).',
  ],
  [
    /CERT|SSL|TLS|ISSUER/,
    'NOT_REACHABLE',
    'The certificate of the registry is not trusted. If a proxy or a registry of your own has its own certificate authority, name its file in NODE_EXTRA_CA_CERTS.',
  ],
  [
    network,
    'NOT_REACHABLE',
    'The registry cannot be reached. Check the network of the host, and the registry and proxy that npm is set up with (npm config get registry).',
  ],
];

function errorOf(output: string, wasKilled: boolean): ProgramError {
  if (wasKilled) return new ProgramError('NOT_REACHABLE', 'The registry did not send the packages in time. Try again.');
  const code = /^npm (?:error|ERR!) code (\S+)/m.exec(output)?.[1] ?? '';
  const reason = reasons.find(([pattern]) => pattern.test(code));
  const detail = detailOf(output);
  // The detail would name a package "undefined", or quote a page.
  if (nonsense.test(detail)) return new ProgramError('NOT_REACHABLE', noRegistry);
  if (reason) return new ProgramError(reason[1], `${reason[2]} (${[code, detail].filter(Boolean).join(': ')})`);
  return new ProgramError('FAILED', `npm failed: ${[code, detail].filter(Boolean).join(': ') || 'it gave no reason'}.`);
}

// The first line that names the problem, without a user's name and password in an address.
function detailOf(output: string): string {
  const lines = output
    .split('\n')
    .flatMap((line) => /^npm (?:error|ERR!) (?!code |errno |syscall )(.+)/.exec(line)?.[1] ?? []);
  return (lines[0] ?? '').replaceAll(/\/\/[^/\s@]+@/g, '//').slice(0, 300);
}
