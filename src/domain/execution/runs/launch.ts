import type { Context } from '../../context.ts';
import type { PreparedRepositories } from '../repositories/prepare-repositories.ts';
import type { SessionRepositoryRow } from '../repositories/session-repositories.ts';
import type { ClaimedRun } from './claims.ts';
import { MissingProfile } from './failures.ts';
import { chooseRoute, type RunRoute } from './run-route.ts';
import { type RunSecrets, readRunSecrets, type SessionSecretRow } from './run-secrets.ts';

/** The launch data of a session's agent. It contains secrets: never log it. */
export interface LaunchPlan extends RunSecrets, RunRoute {
  readonly organizationId: string;
  /** Null: it belongs to no user. */
  readonly userId: string | null;
  /** Ids of the organization's secrets that the session selects; null: all. */
  readonly secretIds: readonly string[] | null;
  /** The repositories in its workspace; if missing: none. */
  readonly repositories?: readonly SessionRepositoryRow[];
  /** The set-up for which the session exists, and which needs no agent; null: an agent runs. */
  readonly build: RequestedBuild | null;
}

/** A set-up without a user's session that has not ended. */
export interface RequestedBuild {
  /** The unprefixed id of its `environment_build`. */
  readonly id: string;
  readonly trigger: 'PUSH' | 'REQUEST';
  /** The definition to build; null: the one that applies. */
  readonly definition: string | null;
}

interface PlanRow {
  organizationId: string;
  /** Null: it belongs to no user. */
  userId: string | null;
  agent: string | null;
  /** Ids of the organization's secrets; null: all. */
  secretIds: string[] | null;
  secrets: SessionSecretRow[];
  /** The user's choice of the option `model`; null: none. */
  chosenModel: string | null;
  /** The organization's choice for each agent. */
  defaultModels: Record<string, unknown>;
  build: RequestedBuild | null;
}

/** Reads the launch data of a session. Throws MissingProfile and ProviderCrash. */
export async function planLaunch(context: Context, { sessionId }: Pick<ClaimedRun, 'sessionId'>): Promise<LaunchPlan> {
  const [row] = await context.store.query<PlanRow>(
    `select s.organization_id as "organizationId", s.user_id as "userId", s.agent, s.secret_ids as "secretIds",
            (select coalesce(json_agg(json_build_object('key', x.key, 'sealed', x.sealed, 'isSensitive', x.is_sensitive)), '[]'::json)
               from session_secret x where x.session_id = s.id) as secrets,
            jsonb_path_query_first(s.agent_options, '$[*] ? (@.id == "model").chosen') #>> '{}' as "chosenModel",
            o.default_models as "defaultModels",
            (select json_build_object('id', b.id, 'trigger', b.trigger, 'definition', b.definition) from environment_build b
              where b.session_id = s.id and b.trigger <> 'SESSION' and b.state in ('QUEUED', 'BUILDING') limit 1) as build
       from session s join organization o on o.id = s.organization_id where s.id = $1`,
    [sessionId],
  );
  if (!row) throw new Error(`Session ${sessionId} has no row.`);
  const agent = row.agent ?? context.defaultAgent;
  const found = context.agentProfiles.get(agent);
  if (!found) throw new MissingProfile(agent);
  const { [found.id]: organizationModel } = row.defaultModels;
  const organization = typeof organizationModel === 'string' ? organizationModel : null;
  const chosen = { session: row.chosenModel, organization };
  const { organizationId, userId, build } = row;
  // No model is called, so no key is needed.
  const runRoute =
    build === null
      ? await chooseRoute(context, found, { organizationId, userId }, chosen)
      : { profile: found, route: null, model: null, storedKey: null };
  const secrets = await readRunSecrets(context, {
    sessionId,
    organizationId,
    secretIds: row.secretIds,
    own: row.secrets,
    profile: runRoute.profile,
  });
  return { organizationId, userId, secretIds: row.secretIds, build, ...runRoute, ...secrets };
}

/** Returns the plan with the repositories that are in the workspace. */
export function withRepositories(plan: LaunchPlan, { repositories, secretValues }: PreparedRepositories): LaunchPlan {
  return { ...plan, repositories, secretValues: [...plan.secretValues, ...secretValues] };
}

/** Returns the directory in which the agent starts: with one repository its clone, where it finds the repository's own instructions. */
export function directoryOf({ repositories = [] }: Pick<LaunchPlan, 'repositories'>): string {
  const [first, ...others] = repositories;
  return first === undefined || others.length > 0 ? '.' : first.directory;
}
