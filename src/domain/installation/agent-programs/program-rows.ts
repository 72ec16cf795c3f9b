import type { AgentReport } from '../../../agents/check/report.ts';
import type { PublishedProgram } from '../../../agents/profile-registry.ts';
import type { FoundProgram } from '../../../agents/programs/find-programs.ts';
import type { Store } from '../../../store/store.ts';

/** The acts on a program that a worker carries out. */
export type ProgramAct = 'install' | 'remove' | 'check';

/** Time after its last report for which a worker counts as alive; it reports every minute. */
const liveMs = 150_000;

type Writer = Pick<Store, 'execute' | 'query'>;

/** The programs of a worker's host, as it reports them. */
export interface WorkerPrograms {
  readonly workerId: string;
  /** The enterprise of the installation. */
  readonly enterpriseId: string;
  /** The name of the host. */
  readonly host: string;
  readonly canInstall: boolean;
  /** One for each ready agent, with its program. */
  readonly agents: readonly {
    readonly agentId: string;
    readonly hasKey: boolean;
    readonly program: FoundProgram | null;
  }[];
}

// An error and a check are about the program that is there: they go when there is another one.
const publish = `
  insert into agent_program as p (worker_id, agent_id, enterprise_id, host, version, source, path, has_key, can_install, expires_at)
  select $1, a.agent_id, $6, $2, a.version, a.source, a.path, a.has_key, $3::boolean, now() + $4::int * interval '1 millisecond'
    from jsonb_to_recordset($5::jsonb) as a(agent_id text, version text, source text, path text, has_key boolean)
  on conflict (worker_id, agent_id) do update
     set enterprise_id = excluded.enterprise_id, host = excluded.host, version = excluded.version, source = excluded.source, path = excluded.path,
         has_key = excluded.has_key, can_install = excluded.can_install, expires_at = excluded.expires_at,
         error = case when p.path is distinct from excluded.path and excluded.path is not null then null else p.error end,
         checked_at = case when (p.path, p.version) is distinct from (excluded.path, excluded.version) then null else p.checked_at end,
         check_report = case when (p.path, p.version) is distinct from (excluded.path, excluded.version) then null else p.check_report end`;

/** Writes the programs of a worker, which counts as alive from now on. */
export async function publishPrograms(
  store: Writer,
  { workerId, enterpriseId, host, canInstall, agents }: WorkerPrograms,
): Promise<void> {
  const rows = agents.map(({ agentId, hasKey, program }) => ({
    'agent_id': agentId,
    'has_key': hasKey,
    version: program?.version ?? null,
    source: program?.source ?? null,
    path: program?.path ?? null,
  }));
  const values = [workerId, host, canInstall, liveMs, JSON.stringify(rows), enterpriseId];
  await store.execute(publish, values);
}

/** Removes what a worker was to do when it stopped, and the rows of workers that have not reported for a week. */
export async function beginPrograms(store: Writer, workerId: string): Promise<void> {
  await store.execute(
    `update agent_program set request = null, progress = null, progress_percent = null,
            error = case when request = 'check' then error else 'The service stopped during the last change. Try again.' end
      where worker_id = $1 and request is not null`,
    [workerId],
  );
  await store.execute(`delete from agent_program where expires_at < now() - interval '7 days'`, []);
}

/** Reports that a worker stops. Its last checks stay. */
export async function endPrograms(store: Writer, workerId: string): Promise<void> {
  await store.execute('update agent_program set expires_at = now() where worker_id = $1', [workerId]);
}

/** Reads what a worker is to do. */
export async function readRequests(
  store: Writer,
  workerId: string,
): Promise<{ readonly agentId: string; readonly request: ProgramAct }[]> {
  return store.query(
    'select agent_id as "agentId", request from agent_program where worker_id = $1 and request is not null order by agent_id',
    [workerId],
  );
}

/** Writes the progress of an installation, or of a check, which has no percentage. */
export async function reportProgress(
  store: Writer,
  { workerId, agentId, text, percent }: { workerId: string; agentId: string; text: string; percent: number | null },
): Promise<void> {
  await store.execute(
    `update agent_program set progress = $3, progress_percent = $4::int where worker_id = $1 and agent_id = $2 and request in ('install', 'check')`,
    [workerId, agentId, text, percent],
  );
}

/** Ends a request; `error` null: it succeeded. A check has its report instead. */
export async function endRequest(
  store: Writer,
  {
    workerId,
    agentId,
    request,
    error,
    report,
  }: {
    workerId: string;
    agentId: string;
    request: ProgramAct;
    error: string | null;
    report?: AgentReport;
  },
): Promise<void> {
  await store.execute(
    `update agent_program set request = null, progress = null, progress_percent = null,
            error = case when $3 = 'check' then error else $4::text end,
            checked_at = case when $5::jsonb is null then checked_at else now() end,
            check_report = coalesce($5::jsonb, check_report)
      where worker_id = $1 and agent_id = $2`,
    [workerId, agentId, request, error, report === undefined ? null : JSON.stringify(report)],
  );
}

/** Reads the programs of all live workers, each agent once; the one with the highest version text counts. */
export async function readPublished(store: Writer): Promise<PublishedProgram[]> {
  return store.query(
    `select agent_id as "agentId", max(version) as version, bool_or(has_key) as "hasKey"
       from agent_program where path is not null and expires_at > now() group by agent_id order by agent_id`,
    [],
  );
}
