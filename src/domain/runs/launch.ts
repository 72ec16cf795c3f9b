import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { environmentNameOf } from '../secret-names.ts';
import { type OpenSecret, readSecrets } from '../secrets/secrets.ts';

/** What a session's agent is started with. `env` holds secrets: never log it. */
export interface LaunchPlan {
  readonly organizationId: string;
  readonly agent: string;
  readonly workspaceDir: string;
  readonly homeDir: string;
  /** For the unix sockets of this run; whoever runs it removes it. */
  readonly runtimeDir: string;
  readonly env: Record<string, string>;
  /** The values to blot out of everything that is stored. */
  readonly secretValues: readonly string[];
}

interface PlanRow {
  organizationId: string;
  agent: string | null;
  /** Of the organization's secrets; null: all. */
  secretIds: string[] | null;
  secrets: { key: string; sealed: string; isSensitive: boolean }[];
}

/**
 * Reads what a session needs to start, and makes its directories: the workspace, the agent's home, which persists with it,
 * and one for this run alone.
 */
export async function planLaunch(context: Context, sessionId: string, dataDir: string): Promise<LaunchPlan> {
  const [row] = await context.store.query<PlanRow>(
    `select s.organization_id as "organizationId", s.agent, s.secret_ids as "secretIds",
            (select coalesce(json_agg(json_build_object('key', x.key, 'sealed', x.sealed, 'isSensitive', x.is_sensitive)), '[]'::json)
               from session_secret x where x.session_id = s.id) as secrets
       from session s where s.id = $1`,
    [sessionId],
  );
  if (!row) throw new Error(`Session ${sessionId} has no row.`);
  const root = join(dataDir, 'sessions', sessionId);
  const workspaceDir = join(root, 'ws');
  const homeDir = join(root, 'home');
  await mkdir(workspaceDir, { recursive: true, mode: 0o700 });
  await mkdir(homeDir, { recursive: true, mode: 0o700 });
  const own = row.secrets.map(({ key, sealed, isSensitive }) => ({
    key,
    isSensitive,
    value: context.keyring.open(sealed, `${sessionId}:${key}`),
  }));
  const shared = await readSecrets(context, row.organizationId, row.secretIds, 'key-value');
  return {
    organizationId: row.organizationId,
    agent: row.agent ?? context.defaultAgent,
    workspaceDir,
    homeDir,
    // Not in the data directory: a socket's path may have 107 bytes at most.
    runtimeDir: await mkdtemp(join(tmpdir(), 'sy-')),
    env: { ...environmentOf(shared), ...Object.fromEntries(own.map(({ key, value }) => [key, value])) },
    secretValues: [...shared, ...own].filter(({ isSensitive }) => isSensitive).map(({ value }) => value),
  };
}

// Two keys may come to one name (`api-key`, `api_key`): the one that is written so wins, then the older.
function environmentOf(secrets: readonly OpenSecret[]): Record<string, string> {
  const env = new Map<string, string>();
  for (const { key, value } of secrets) {
    const name = environmentNameOf(key);
    if (name !== null && (name === key || !env.has(name))) env.set(name, value);
  }
  return Object.fromEntries(env);
}
