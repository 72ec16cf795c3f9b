import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** The oldest major version that the service supports. */
const oldestSupported = 15;

/** The advice for machines without PostgreSQL. */
export const howToGetPostgres = `install PostgreSQL ${oldestSupported} or newer (Debian: apt-get install postgresql; macOS: brew install postgresql), or set TEST_POSTGRES_URL to a server on which the tests may create databases`;

/** A running private PostgreSQL. */
export interface PostgresCluster {
  /** The superuser's URL of the database `postgres`; tests create their own databases on the same server. */
  readonly url: string;
  /** The URL for the socket in its folder: each statement takes half as much CPU as over TCP. */
  readonly socketUrl: string;
  /** Ends all connections and restarts the server with the same files and port. */
  restart(): Promise<void>;
  /** Promotes a standby, as in a failover. */
  promote(): Promise<void>;
  /** Makes a base backup, without WAL, that exists as long as the cluster. Returns its folder. */
  backUp(): Promise<string>;
  /** Stops the server and removes its files. May be called twice. */
  stop(): Promise<void>;
}

/** Options of {@link startPostgresCluster}. */
export interface ClusterOptions {
  /** Settings as `name=value`, which override those of the tests. */
  readonly settings?: readonly string[];
  /** The {@link PostgresCluster.url} of the running primary of a standby. */
  readonly standbyOf?: string;
  /** The base backup from which the cluster recovers; `settings` say how far. */
  readonly recoveryOf?: string;
}

/** Returns the folder of the newest supported PostgreSQL server; null if there is none. */
export function findPostgresBinaries(): string | null {
  const found = candidateFolders()
    .filter((folder) => ['initdb', 'pg_ctl', 'postgres'].every((program) => existsSync(join(folder, program))))
    .map((folder) => ({ folder: dirname(realpathSync(join(folder, 'initdb'))), major: majorVersion(folder) }))
    .filter(({ major }) => major >= oldestSupported)
    .sort((a, b) => b.major - a.major);
  return found[0]?.folder ?? null;
}

/**
 * Starts a private PostgreSQL on a free port of 127.0.0.1 with its files in a new temporary folder. It trusts everybody on
 * this machine and does not sync to disk, so only tests may use it. It stops with `stop()`, and also when this process ends in
 * any other way, `kill -9` included.
 */
export async function startPostgresCluster(
  binaries: string,
  { settings = [], standbyOf = '', recoveryOf = '' }: ClusterOptions = {},
): Promise<PostgresCluster> {
  const owner = unprivilegedOwner();
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-postgres-'));
  if (owner) chownSync(folder, owner.uid, owner.gid);
  const port = await freePort();
  const more = settings.map((setting) => `-c ${setting}`).join(' ');
  // In its own session: Ctrl-C in the terminal reaches vitest first, and the server stops after the tests.
  const args = [binaries, folder, String(port), more, standbyOf, recoveryOf];
  const supervisor = spawn('sh', ['-c', supervisorScript, 'sh', ...args], {
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, LANG: 'C', HOME: folder },
    ...owner,
  });
  const ended = new Promise<void>((resolve) => supervisor.once('close', () => resolve()));
  try {
    await ready(supervisor);
  } catch (error) {
    supervisor.stdin.destroy();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  const control = async (command: 'restart' | 'promote', ...args: readonly string[]) => {
    const all = [command, '-w', '-D', join(folder, 'data'), ...args];
    const running = spawn(join(binaries, 'pg_ctl'), all, { cwd: folder, stdio: 'ignore', ...owner });
    const code = await new Promise((resolve) => running.once('exit', resolve));
    if (code !== 0) throw new Error(`"pg_ctl ${command}" failed: ${code}.`);
  };
  return {
    url,
    socketUrl: `${url}?host=${encodeURIComponent(folder)}`,
    restart: () => control('restart', '-m', 'fast', '-l', join(folder, 'log')),
    promote: () => control('promote'),
    async backUp() {
      const base = join(folder, 'base');
      const all = ['-d', url, '-D', base, '-X', 'none', '-c', 'fast', '-N', '--no-manifest'];
      const running = spawn(join(binaries, 'pg_basebackup'), all, { cwd: folder, stdio: 'ignore', ...owner });
      const code = await new Promise((resolve) => running.once('exit', resolve));
      if (code !== 0) throw new Error(`"pg_basebackup" failed: ${code}.`);
      return base;
    },
    async stop() {
      supervisor.stdin.end();
      await ended;
    },
  };
}

/**
 * The server's supervisor: starts it, writes "ready", and waits until its standard input closes; the kernel closes that when
 * the test process ends. `-N` and `fsync=off`: the files are temporary.
 */
const supervisorScript = `
bin=$1 dir=$2 port=$3 more=$4 primary=$5 base=$6
trap 'rm -rf "$dir"' EXIT
fail() { tail -n 20 "$dir/log" >&2; exit 1; }
if [ -n "$primary" ]; then
  "$bin/pg_basebackup" -d "$primary" -D "$dir/data" -R -X stream -c fast -N >"$dir/log" 2>&1 || fail
elif [ -n "$base" ]; then
  cp -r "$base" "$dir/data" && chmod 700 "$dir/data" && touch "$dir/data/recovery.signal" || fail
else
  "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --no-locale -N >"$dir/log" 2>&1 || fail
fi
"$bin/pg_ctl" start -w -t 60 -D "$dir/data" -l "$dir/log" >/dev/null 2>&1 </dev/null -o "-p $port \
  -c listen_addresses=127.0.0.1 -c unix_socket_directories='$dir' -c max_connections=300 -c shared_buffers=64MB \
  -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c timezone=UTC $more" || fail
echo ready
cat >/dev/null
"$bin/pg_ctl" stop -w -m immediate -D "$dir/data" >/dev/null 2>&1
`;

/** Resolves when the supervisor is ready; throws with the end of the server's log if it fails. */
async function ready(supervisor: ChildProcess): Promise<void> {
  let stderrText = '';
  supervisor.stderr?.on('data', (data: Buffer) => {
    stderrText += data.toString();
  });
  const output = await new Promise<string>((resolve) => {
    supervisor.once('error', (error) => resolve(error.message));
    supervisor.once('close', () => resolve('it gave up'));
    supervisor.stdout?.once('data', (data: Buffer) => resolve(data.toString().trim()));
  });
  if (output !== 'ready')
    throw new Error(`PostgreSQL for the tests did not start: ${output}. Its log ends:\n${stderrText}`);
}

/** The server refuses to run as root: returns the user to switch to if this process runs as root. */
function unprivilegedOwner(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  for (const user of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, user], { stdio: 'pipe' })));
      if (uid && gid) return { uid, gid };
    } catch {
      // Tries the next user if this one does not exist.
    }
  }
  throw new Error('PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody.');
}

function candidateFolders(): string[] {
  const path = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  const roots = ['/usr/lib/postgresql', '/usr/local', '/usr/local/opt', '/opt/homebrew/opt', '/usr'];
  const nested = roots.flatMap((root) =>
    existsSync(root)
      ? readdirSync(root)
          .filter((name) => /^(?:\d+|pgsql.*|postgres.*)$/.test(name))
          .map((name) => join(root, name, 'bin'))
      : [],
  );
  return [...path, ...nested];
}

function majorVersion(folder: string): number {
  try {
    const text = execFileSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return Number(/\d+/.exec(text)?.[0] ?? 0);
  } catch {
    return 0;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
