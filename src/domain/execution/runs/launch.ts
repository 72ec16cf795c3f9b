import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { runtimePrefix } from '../../../agents/process-spool.ts';
import type { Context } from '../../context.ts';
import { discardDirectory, sessionsIn } from '../workspaces/session-directories.ts';
import type { ClaimedRun } from './claims.ts';
import { type RunSecrets, readRunSecrets, type SessionSecretRow } from './run-secrets.ts';

/** The launch data of a session's agent. It contains secrets: never log it. */
export interface LaunchPlan extends RunSecrets {
  readonly organizationId: string;
  readonly agent: string;
  readonly workspaceDir: string;
  readonly homeDir: string;
  /** For the unix sockets of this run, which removes it. */
  readonly runtimeDir: string;
}

/** Returns the agent's working directory in the directory of its session. */
export function workspaceIn(sessionDir: string): string {
  return join(sessionDir, 'ws');
}

interface PlanRow {
  organizationId: string;
  agent: string | null;
  /** Ids of the organization's secrets; null: all. */
  secretIds: string[] | null;
  secrets: SessionSecretRow[];
}

/**
 * Reads the launch data of a session, and creates its directories: the workspace, the agent's home, which persists with
 * it, and one for this run alone.
 */
export async function planLaunch(
  context: Context,
  { sessionId, workerId, isWorkspaceDeleted }: Pick<ClaimedRun, 'sessionId' | 'workerId' | 'isWorkspaceDeleted'>,
  dataDir: string,
): Promise<LaunchPlan> {
  const [row] = await context.store.query<PlanRow>(
    `select s.organization_id as "organizationId", s.agent, s.secret_ids as "secretIds",
            (select coalesce(json_agg(json_build_object('key', x.key, 'sealed', x.sealed, 'isSensitive', x.is_sensitive)), '[]'::json)
               from session_secret x where x.session_id = s.id) as secrets
       from session s where s.id = $1`,
    [sessionId],
  );
  if (!row) throw new Error(`Session ${sessionId} has no row.`);
  const root = join(sessionsIn(dataDir), sessionId);
  if (isWorkspaceDeleted) discardDirectory(dataDir, sessionId);
  const workspaceDir = workspaceIn(root);
  const homeDir = join(root, 'home');
  await mkdir(workspaceDir, { recursive: true, mode: 0o700 });
  await mkdir(homeDir, { recursive: true, mode: 0o700 });
  const agent = row.agent ?? context.defaultAgent;
  const secrets = await readRunSecrets(context, {
    sessionId,
    organizationId: row.organizationId,
    secretIds: row.secretIds,
    own: row.secrets,
    profile: context.agentProfiles.get(agent) ?? null,
  });
  return {
    organizationId: row.organizationId,
    agent,
    workspaceDir,
    homeDir,
    runtimeDir: await mkdtemp(runtimePrefix(workerId)),
    ...secrets,
  };
}
