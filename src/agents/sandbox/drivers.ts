import { join } from 'node:path';
import { bwrapDescription, sandboxPaths, wrapWithBwrap } from './bwrap.ts';
import { confineGit } from './confine-git.ts';
import type { SandboxDriver } from './driver.ts';
import { missingProtections } from './hardening.ts';
import { hostCommand, hostDescription } from './host-command.ts';
import { createLocalDriver } from './local/local-driver.ts';
import { type LocalMachineOptions, openLocalMachine } from './local/local-machine.ts';
import { openBwrap } from './open-bwrap.ts';
import type { SandboxSettings } from './settings.ts';
import type { Workspaces } from './workspaces.ts';
import { commandDescription, wrapWithCommand } from './wrap-with-command.ts';

/** The values of SANDBOX: `auto` uses a sandbox if possible, `bwrap` refuses to start without one. */
export const sandboxChoices = ['auto', 'none', 'bwrap'] as const;

/** The drivers of this worker. */
export interface SandboxDrivers {
  /** The name of the driver of profiles that name none. */
  readonly defaultName: string;
  /**
   * Returns the driver that runs agents with these settings. Throws a sentence with the code ENOSANDBOX if it does not
   * work here.
   */
  driverFor(settings: SandboxSettings | null): SandboxDriver;
  /** The workspaces of all drivers, each storage once. */
  readonly workspaces: readonly Workspaces[];
  /** Ends the work of this machine in the background. Call it after the last session has ended. Never rejects. */
  close(): Promise<void>;
}

/** Options of {@link openDrivers}. */
export interface DriversOptions extends Omit<LocalMachineOptions, 'log'> {
  readonly choice: (typeof sandboxChoices)[number];
  /** The PATH in which bubblewrap is searched. */
  readonly path: string;
  /** Absolute paths that no agent in a sandbox may see. */
  readonly hidden: readonly string[];
  readonly log: Record<'info' | 'warn', (fields: object, message: string) => void>;
}

/**
 * Opens all drivers and chooses the default one: the only place that knows all of them. Tries bubblewrap once and logs
 * the result. Kills the processes that an earlier run of this worker left behind. Rejects if bubblewrap is required and
 * does not work.
 */
export async function openDrivers(options: DriversOptions): Promise<SandboxDrivers> {
  const { choice, dataDir, path, hidden, log } = options;
  const trial = { directory: join(dataDir, 'sandbox'), path, hidden };
  const bwrap = await openBwrap(trial).catch((error: unknown) => (error as Error).message);
  const problem = typeof bwrap === 'string' ? bwrap : null;
  if (choice === 'bwrap' && problem !== null) throw new Error(requiredSandbox(problem));
  const defaultName = choice === 'none' || problem !== null ? 'none' : 'bwrap';
  if (choice === 'auto' && problem !== null) {
    log.warn(
      { problem },
      'Agents run without a sandbox: bubblewrap does not work here. Install or allow it (docs/agents.md, "Sandbox"), or only let people start sessions who may use this host.',
    );
  } else {
    const message = `Agents run ${defaultName === 'none' ? 'without' : 'in'} a sandbox, unless their profiles say otherwise.`;
    log.info({ sandbox: defaultName }, message);
  }
  const missing = typeof bwrap === 'string' ? [] : missingProtections(bwrap.hardening);
  if (missing.length > 0) log.warn({ missing }, 'The sandbox of bubblewrap lacks protections on this host.');

  const machine = await openLocalMachine(options);
  // Also where another program confines agents: the files of their workspaces are on this machine.
  const confine = typeof bwrap === 'string' ? null : confineGit(bwrap.program);
  const drivers = {
    none: createLocalDriver(machine, {
      ...hostDescription,
      wrap: hostCommand,
      confineGit: confine,
      pathsOf: (directories) => directories,
    }),
    command: createLocalDriver(machine, {
      ...commandDescription,
      wrap: wrapWithCommand,
      confineGit: confine,
      pathsOf: (directories, settings) => settings?.paths ?? directories,
    }),
    bwrap:
      typeof bwrap === 'string'
        ? null
        : createLocalDriver(machine, {
            ...bwrapDescription,
            wrap: (request) => wrapWithBwrap(bwrap, request),
            confineGit: confine,
            pathsOf: () => sandboxPaths,
          }),
  } as const satisfies Record<SandboxSettings['driver'], SandboxDriver | null>;
  return {
    defaultName,
    driverFor(settings) {
      const driver = drivers[settings?.driver ?? defaultName];
      if (driver === null) throw noSandbox(problem ?? '');
      return driver;
    },
    workspaces: [machine.workspaces],
    close: machine.close,
  };
}

function requiredSandbox(problem: string): string {
  return `SANDBOX is "bwrap", and that does not work: ${problem}\nIn a container, use the image with the target "agents" and allow bubblewrap as docs/installation.md says ("The sandbox in a container"). SANDBOX=none runs agents with the rights of the service: they can read its keys.`;
}

// Has a code like the system's own errors, for callers that classify them.
function noSandbox(problem: string): NodeJS.ErrnoException {
  const message = `its sandbox needs bubblewrap, which does not work: ${problem}`;
  return Object.assign(new Error(message), { code: 'ENOSANDBOX' });
}
