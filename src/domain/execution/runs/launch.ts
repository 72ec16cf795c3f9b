import type { AgentProfile } from '../../../agents/agent.ts';
import type { Context } from '../../context.ts';
import type { ClaimedRun } from './claims.ts';
import { MissingProfile } from './failures.ts';
import { type RunSecrets, readRunSecrets, type SessionSecretRow } from './run-secrets.ts';

/** The launch data of a session's agent. It contains secrets: never log it. */
export interface LaunchPlan extends RunSecrets {
  readonly organizationId: string;
  readonly profile: AgentProfile;
}

interface PlanRow {
  organizationId: string;
  agent: string | null;
  /** Ids of the organization's secrets; null: all. */
  secretIds: string[] | null;
  secrets: SessionSecretRow[];
}

/** Reads the launch data of a session. Throws MissingProfile. */
export async function planLaunch(context: Context, { sessionId }: Pick<ClaimedRun, 'sessionId'>): Promise<LaunchPlan> {
  const [row] = await context.store.query<PlanRow>(
    `select s.organization_id as "organizationId", s.agent, s.secret_ids as "secretIds",
            (select coalesce(json_agg(json_build_object('key', x.key, 'sealed', x.sealed, 'isSensitive', x.is_sensitive)), '[]'::json)
               from session_secret x where x.session_id = s.id) as secrets
       from session s where s.id = $1`,
    [sessionId],
  );
  if (!row) throw new Error(`Session ${sessionId} has no row.`);
  const agent = row.agent ?? context.defaultAgent;
  const profile = context.agentProfiles.get(agent);
  if (!profile) throw new MissingProfile(agent);
  const secrets = await readRunSecrets(context, {
    sessionId,
    organizationId: row.organizationId,
    secretIds: row.secretIds,
    own: row.secrets,
    profile,
  });
  return { organizationId: row.organizationId, profile, ...secrets };
}
