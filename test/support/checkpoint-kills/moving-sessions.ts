import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { findByEnvironment, signalProcess } from '../../../src/agents/sandbox/process-identity.ts';

/** A process of the service. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** Stops it with SIGTERM. */
  stop(): Promise<unknown>;
  output(): string;
}

/** A worker with a data directory of its own. */
export interface WorkerProcess extends ServiceProcess {
  readonly name: string;
  readonly dataDir: string;
}

/** Options of {@link openMovingSessions}. */
export interface MovingOptions {
  /** The directory of the data directories, the journals and the file storage. */
  readonly root: string;
  readonly databaseUrl: string;
  /** The variables of all processes. */
  readonly env: Readonly<Record<string, string>>;
  launch(env: Record<string, string>): Promise<ServiceProcess>;
}

/** The state of a session in the database. */
export interface SessionRow {
  readonly id: string;
  readonly status: string;
  readonly statusDetail: string | null;
  readonly generation: number;
  readonly workerId: string | null;
  readonly isLeased: boolean;
  /** True if a worker has something to do. */
  readonly isQueued: boolean;
  readonly isTurnOpen: boolean;
  readonly checkpointId: string | null;
}

/** A service of one API process and workers that come and go, and sessions that move between them. */
export interface MovingSessions {
  readonly database: pg.Client;
  /** Starts a worker with an empty data directory. */
  startWorker(): Promise<WorkerProcess>;
  /** Kills a worker and its agents, and takes its data directory away. Returns the time. */
  lose(worker: WorkerProcess): Promise<number>;
  /** Stops a worker with SIGTERM, and takes its data directory away. */
  retire(worker: WorkerProcess): Promise<void>;
  workerId(worker: WorkerProcess): string;
  /** Calls a mutation of GraphQL. Rejects with its errors. */
  mutate(name: string, selection: string, input: object): Promise<any>;
  /** Prefixed. */
  readonly organizationId: string;
  createSession(input: object): Promise<string>;
  sendMessage(sessionId: string, body: string): Promise<void>;
  /** All sessions, by their ids. */
  readSessions(): Promise<Map<string, SessionRow>>;
  /** Reads the last notices of a session's log, the newest first. */
  readNotices(sessionId: string): Promise<readonly string[]>;
  /** The file with the journal of the agent of a session. */
  journalOf(sessionId: string): string;
  close(): Promise<void>;
}

const token = `cog_${'a1B2'.repeat(10)}`;

/** The directory of the agents' journals below the root. */
export const journalsOf = (root: string) => join(root, 'journals');

/** Starts the API process of the service. */
export async function openMovingSessions({ root, databaseUrl, env, launch }: MovingOptions): Promise<MovingSessions> {
  mkdirSync(journalsOf(root), { recursive: true });
  mkdirSync(join(root, 'lost'));
  const shared = {
    SECRET_KEY: 'the same secret key in every process',
    BOOTSTRAP_TOKEN: token,
    PORT: '0',
    LOG_LEVEL: 'warn',
    ATTACHMENTS_DIR: join(root, 'files'),
    RATE_LIMIT_GRAPHQL: '0',
    ...env,
    DATABASE_URL: databaseUrl,
  };
  const api = await launch({ ...shared, ROLES: 'api,scheduler', DATA_DIR: join(root, 'api') });
  const database = new pg.Client(databaseUrl);
  await database.connect();
  const workers: WorkerProcess[] = [];
  let started = 0;

  const ask = async (query: string, variables: object = {}): Promise<any> => {
    const headers = { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ query, variables });
    const response = await fetch(`${api.url}/graphql`, { method: 'POST', headers, body });
    const { data, errors } = (await response.json()) as { data?: any; errors?: unknown };
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data;
  };
  const mutate = async (name: string, selection: string, input: object): Promise<any> => {
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
    const document = `mutation($input: ${type}!) { ${name}(input: $input) { ${selection} userErrors { message } } }`;
    const data = await ask(document, { input });
    if (data[name].userErrors.length > 0) throw new Error(`${name}: ${JSON.stringify(data[name].userErrors)}`);
    return data[name];
  };
  const organizationId = (await ask('{ organizations(first: 1) { nodes { id } } }')).organizations.nodes[0]
    .id as string;
  const ids = new Map<WorkerProcess, string>();
  const workerId = (worker: WorkerProcess) => {
    const id = ids.get(worker) ?? readFileSync(join(worker.dataDir, 'worker.id'), 'utf8').trim();
    ids.set(worker, id);
    return id;
  };
  // Thousands of files are deleted with a low priority: the file system has other work now.
  const takeAway = ({ dataDir, name }: WorkerProcess) => {
    const lost = join(root, 'lost', name);
    renameSync(dataDir, lost);
    spawn('nice', ['-n', '19', 'rm', '-rf', lost], { stdio: 'ignore' }).on('error', () => undefined);
  };

  return {
    database,
    mutate,
    organizationId,
    workerId,
    async startWorker() {
      started += 1;
      const name = `worker-${started}`;
      const dataDir = join(root, name);
      const running = await launch({ ...shared, ROLES: 'worker', DATA_DIR: dataDir });
      const worker = { ...running, name, dataDir };
      workers.push(worker);
      return worker;
    },
    async lose(worker) {
      const id = workerId(worker);
      workers.splice(workers.indexOf(worker), 1);
      const at = Date.now();
      signalProcess(worker.pid, 'SIGKILL');
      for (const pid of findByEnvironment({ SWITCHYARD_WORKER: id })) signalProcess(pid, 'SIGKILL');
      takeAway(worker);
      return at;
    },
    async retire(worker) {
      workerId(worker);
      workers.splice(workers.indexOf(worker), 1);
      await worker.stop();
      takeAway(worker);
    },
    async createSession(input) {
      const { session } = await mutate('createSession', 'session { sessionId }', { organizationId, ...input });
      return session.sessionId.replace('devin-', '');
    },
    async sendMessage(sessionId, body) {
      await mutate('sendMessage', 'message { seq }', { sessionId, body });
    },
    async readSessions() {
      const { rows } = await database.query<SessionRow>(`
        select s.id, s.status, s.status_detail as "statusDetail", r.generation, r.home_worker_id as "workerId",
               r.queued_at is not null as "isQueued", r.is_turn_open as "isTurnOpen", r.checkpoint_id as "checkpointId",
               l.session_id is not null as "isLeased"
          from session s join run r on r.session_id = s.id left join lease l on l.session_id = s.id`);
      return new Map(rows.map((row) => [row.id, row]));
    },
    async readNotices(sessionId) {
      const { rows } = await database.query<{ body: string }>(
        `select body from log_entry where session_id = $1 and kind in ('NOTICE', 'ERROR') order by seq desc limit 5`,
        [sessionId],
      );
      return rows.map(({ body }) => body);
    },
    journalOf: (sessionId) => join(journalsOf(root), `${sessionId}.ndjson`),
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await api.stop();
      await database.end();
    },
  };
}
