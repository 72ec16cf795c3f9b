import { type ExecFileException, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { writePackage } from '../../scripts/package/write-package.ts';
import { ensureBuilt, ensureConsole, ensurePrograms } from './built.ts';
import { bootstrapToken } from './server.ts';

const run = promisify(execFile);

/** Writes the npm package of the service into a directory, from a build that is up to date. */
export async function writeBuiltPackage(directory: string): Promise<void> {
  await ensureConsole();
  await ensurePrograms();
  await ensureBuilt();
  await writePackage(directory);
}

/** Packs a package and returns the path of the tarball. */
export async function packPackage(directory: string, destination: string): Promise<string> {
  await mkdir(destination, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', destination], { cwd: directory });
  return join(destination, stdout.trim());
}

/** Installs a tarball in an empty folder, as users do. Returns false if npm's registry cannot be reached. */
export async function installTarball(tarball: string, folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0', tarball];
  return run('npm', args, { cwd: folder }).then(
    () => true,
    (error: ExecFileException & { readonly stderr: string }) => {
      if (
        /code (?:E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|TIMEDOUT)|ENOTCACHED|ERR_SOCKET_TIMEOUT)\b/.test(
          error.stderr,
        )
      ) {
        return false;
      }
      throw error;
    },
  );
}

/** A service that npx started. */
export interface InstalledService {
  readonly url: string;
  output(): string;
  /** Sends SIGINT to all of its processes, as Ctrl+C in a terminal does; resolves when they have ended. */
  stop(): Promise<void>;
}

/** Starts the package that is installed in a folder with npx, and waits until it listens. */
export async function startInstalled(folder: string, env: Record<string, string>): Promise<InstalledService> {
  const child = spawn('npx', ['--no', '--', 'switchyard'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', BOOTSTRAP_TOKEN: bootstrapToken, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-(child.pid as number), name);
    } catch {
      // All have ended.
    }
  };
  onTestFinished(() => signal('SIGKILL'));
  let text = '';
  const closed = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (more: string) => {
        text += more;
        const address = /Switchyard is at (http:\S+?)\.\s/.exec(text)?.[1];
        if (address) resolve(address);
      });
    }
    closed.then(() => reject(new Error(text)));
  });
  return {
    url,
    output: () => text,
    async stop() {
      signal('SIGINT');
      await closed;
    },
  };
}
