import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DriverDescription } from './driver.ts';
import type { Hardening } from './hardening.ts';
import type { SandboxCommand, WrapRequest } from './local/sandbox-command.ts';
import { loaderCache, ownParts, ownProgram, ownRoot } from './own-code.ts';
import { filesOfCommand, findProgram, isInside } from './program-files.ts';
import { systemArguments, systemDirectories } from './system-files.ts';

/**
 * The paths of an agent's directories in a bubblewrap sandbox: always the same, so that agents find their sessions
 * again.
 */
export const sandboxPaths = { workspace: '/workspace', home: '/home/agent', runtime: '/run/switchyard' } as const;

/** Settings that all sandboxes of this process share. */
export interface BwrapOptions {
  /** Bubblewrap's program. */
  readonly program: string;
  /** Paths that no agent may see, even inside of visible directories: the data directory and the like. */
  readonly hidden: readonly string[];
  /** The passwd and group files that identify the agent's user and group. */
  readonly identity: { readonly passwd: string; readonly group: string };
  readonly hardening: Hardening;
}

/** The default size of each directory for temporary files, in MiB. */
export const defaultTmpMb = 1_024;

/** The driver `bwrap`: namespaces of bubblewrap. */
export const bwrapDescription: DriverDescription = {
  name: 'bwrap',
  strictness: (settings) => ({
    files: 'isolated',
    processes: 'isolated',
    network: settings?.network === 'gateway' ? 'services' : 'host',
    // Where bubblewrap is too old for it, the log says so (hardening.ts).
    limits: ['temporary files'],
    shownPaths: settings?.readOnly ?? [],
    command: null,
  }),
  hostProgram: ([program = '']) => program,
  runsHostPrograms: true,
};

/** The user id in the sandbox. Agents refuse to run as root, and a worker may be root. */
export function sandboxUid(): number {
  return process.getuid?.() || 1_000;
}

/** A sandbox of namespaces: the agent sees its three directories, the system's programs, and only its own processes. */
export function wrapWithBwrap(options: BwrapOptions, request: WrapRequest): SandboxCommand {
  const { settings: sandbox, directories } = request;
  const { filter, isUsernsDisabled, isTmpBounded } = options.hardening;
  const path = searchPath(request.env.PATH ?? '');
  const [name = '', ...rest] = request.command;
  const program = findProgram(name, path);
  if (program === null) throw programNotFound(name);
  const command = [program, ...rest];
  const forwards = request.forwards.map(({ port, socketName }) => `${port}=${sandboxPaths.runtime}/${socketName}`);
  const shim = forwards.length === 0 ? [] : [...ownProgram('shim'), ...forwards, '--'];
  const uid = sandboxUid();
  const temporaryDirectory = temporaryDirectories(isTmpBounded ? (sandbox?.tmpMb ?? defaultTmpMb) : null);
  const args = [
    '--unshare-all',
    ...(isUsernsDisabled ? ['--unshare-user', '--disable-userns'] : []),
    ...(filter === null ? [] : ['--seccomp', '3']),
    ...(sandbox?.network === 'gateway' ? [] : ['--share-net']),
    '--die-with-parent',
    // No capabilities: with one of them the agent could remove the mounts that hide files.
    ...['--cap-drop', 'ALL'],
    ...(process.getuid?.() === uid ? [] : ['--uid', String(uid), '--gid', String(uid)]),
    ...systemArguments(),
    ...['--ro-bind', options.identity.passwd, '/etc/passwd', '--ro-bind', options.identity.group, '/etc/group'],
    ...['--proc', '/proc', ...kernelArguments(), '--dev', '/dev'],
    ...(isTmpBounded ? ['--perms', '1777', ...temporaryDirectory('/dev/shm'), '--remount-ro', '/dev'] : []),
    ...[...temporaryDirectory('/tmp'), ...temporaryDirectory('/var/tmp'), '--dir', '/run'],
    ...shownArguments(
      options.hidden,
      [...command, process.execPath],
      [...(sandbox?.readOnly ?? []), ...request.borrowed],
    ),
    ...cacheArguments(uid),
    ...['--bind', directories.workspace, sandboxPaths.workspace],
    ...['--bind', directories.home, sandboxPaths.home],
    ...['--bind', directories.runtime, sandboxPaths.runtime],
    ...['--chdir', sandboxPaths.workspace],
    ...['--remount-ro', '/', '--', ...shim, ...command],
  ];
  const temporary: Record<string, string> = 'TMPDIR' in request.env ? { TMPDIR: '/tmp' } : {};
  return {
    program: options.program,
    args,
    inputs: filter === null ? [] : [filter],
    env: { PATH: seenPath(path, [...command, process.execPath], sandbox?.readOnly ?? []), ...temporary },
    isWrapped: true,
    stopCommand: [],
  };
}

// They are in memory. Without a size, one of them could take half of the host's memory.
function temporaryDirectories(mb: number | null): (path: string) => string[] {
  return (path) => [...(mb === null ? [] : ['--size', String(mb * 2 ** 20)]), '--tmpfs', path];
}

// Entries of /proc that belong to the whole host. For the kernel, the agent of a worker that runs as root is still root
// under another number: it owns these files, and needs no capability to write to them. Bubblewrap itself covers only
// some of them, and not in all cases.
const kernelEntries = ['acpi', 'bus', 'fs', 'irq', 'mtrr', 'pressure', 'scsi', 'sys', 'sysrq-trigger'];

function kernelArguments(): string[] {
  return kernelEntries.flatMap((name) => ['--ro-bind-try', `/proc/${name}`, `/proc/${name}`]);
}

// Lets programs written for Node find the service's own Node.
function searchPath(path: string): string {
  const own = dirname(process.execPath);
  return path.split(':').includes(own) ? path : [path, own].filter((part) => part !== '').join(':');
}

// Removes directories that do not exist in the sandbox: they would only reveal the host's layout.
function seenPath(path: string, command: readonly string[], readOnly: readonly string[]): string {
  const { directories, links } = filesOfCommand(command);
  const visibleDirectories = [...systemDirectories, ...directories, ...readOnly, ...Object.values(sandboxPaths)];
  const parents = [...directories, ...links.map(({ at }) => at)].map((each) => dirname(each));
  const isThere = (part: string) => parents.includes(part) || visibleDirectories.some((each) => isInside(part, each));
  return path.split(':').filter(isThere).join(':');
}

// The error that the system reports without a sandbox.
function programNotFound(name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`spawn ${name} ENOENT`), { code: 'ENOENT' });
}

// The order matters, because a later mount covers an earlier one: visible paths, hidden paths inside them, and paths
// inside those that an operator shows explicitly.
function shownArguments(hidden: readonly string[], command: readonly string[], readOnly: readonly string[]): string[] {
  const { directories, links } = filesOfCommand(command);
  const isSystem = (path: string) => systemDirectories.some((directory) => isInside(path, directory));
  const shown = [...new Set([...directories.filter((path) => !isSystem(path)), ...readOnly])].filter(existsSync);
  const isHidden = (path: string) => hidden.some((each) => isInside(path, each));
  const open = [...ownParts.filter(existsSync), ...shown.filter((path) => !isHidden(path))];
  const visible = (path: string) => isSystem(path) || open.some((each) => isInside(path, each));
  const covered = hidden.filter((path) => visible(path) && existsSync(path));
  const covers = [...(isSystem(ownRoot) ? [ownRoot] : []), ...covered.filter((path) => statSync(path).isDirectory())];
  return [
    // For an installation in /opt: there may be keys beside its code.
    ...(isSystem(ownRoot) ? ['--tmpfs', ownRoot] : []),
    ...open.flatMap(show),
    ...links.filter(({ at }) => !visible(at)).flatMap(({ at, to }) => ['--symlink', to, at]),
    ...covered.flatMap(hide),
    ...shown.filter(isHidden).flatMap(show),
    // These covers are in memory and have no size limit.
    ...covers.flatMap((path) => ['--remount-ro', path]),
  ];
}

function show(path: string): string[] {
  return ['--ro-bind', path, path];
}

function hide(path: string): string[] {
  return statSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

function cacheArguments(uid: number): string[] {
  const cache = loaderCache(uid);
  return cache === null ? [] : ['--ro-bind-try', cache.source, cache.target];
}
