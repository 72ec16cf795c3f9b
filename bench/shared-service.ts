import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { percentile } from '../test/support/checkpoint-kills/kill-figures.ts';
import { createViewers, openAudience, subscriber } from './support/audience.ts';
import type { Bench, Database, Server } from './support/bench.ts';
import { askOnce, graphqlRequest } from './support/http.ts';
import { nowMs } from './support/local-forge.ts';
import type { Row } from './support/measures.ts';
import { mutate } from './support/mutate.ts';
import { workingAgent } from './support/working-agent.ts';

/** The sessions that one organization puts into the queue, and the sockets that it opens. */
const queued = 10_000;
const sockets = 100;
/** One of this many sockets follows the queue; the others follow a session each. */
const everyFifth = 5;
/** The sessions that run at the same time, and the time for which each of the queued ones works. */
const slots = 4;
const workMs = 2_000;

const queueDocument = (organizationId: string, n: number) =>
  `subscription Queue${n} { queueChanges(organizationId: "${organizationId}") { type waitingCount session { queuePosition queueReason } } }`;

/** An organization's times, in ms, ascending. */
interface Times {
  /** From the request of a session to the prompt at its agent. */
  readonly starts: readonly number[];
  /** Of one small query after another. */
  readonly queries: readonly number[];
}

/** The times of one organization, before and while another one has a long queue and many sockets. */
export async function measureSharedService(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const server = await startWorking(bench, database);
  const { organization } = await mutate(server, 'createOrganization', 'organization { organizationId }', {
    name: 'Other',
  });
  const otherId = (organization.organizationId as string).replace('org-', '');
  const [token = ''] = await createViewers({ ...server, organizationId: otherId }, 1);
  const other = { ...server, organizationId: otherId, token };
  const before = await measureTimes(bench, database, other);

  await fillQueue(database, server);
  const ids = (await database.client.query('select session_id as id from run order by queued_at limit $1', [sockets]))
    .rows;
  const document = (n: number) => queueDocument(`org-${server.organizationId}`, n);
  await openAudience(
    bench,
    ids.map(({ id }, n) =>
      n % everyFifth === 0 ? subscriber(server, server.token, id, document(n)) : subscriber(server, server.token, id),
    ),
  );
  const during = await measureTimes(bench, database, other);
  const { rows } = await database.client.query(
    `select count(*)::int as n from run where queued_at is not null and organization_id = $1`,
    [server.organizationId],
  );
  if (rows[0].n < queued / 2) throw new Error(`Only ${rows[0].n} sessions were left in the queue.`);
  const text = (times: readonly number[], digits: number) =>
    [0.5, 0.99, 1].map((part) => percentile(times, part).toFixed(digits)).join(', ');
  const note = (name: keyof Times, digits: number) =>
    `p50, p99 and most: ${text(during[name], digits)} ms; before ${text(before[name], digits)} ms; ${during[name].length} each, ${rows[0].n} sessions left in the queue`;
  return [
    { name: 'shared-service/start', value: percentile(during.starts, 0.99), note: note('starts', 0) },
    { name: 'shared-service/query', value: percentile(during.queries, 0.99), note: note('queries', 1) },
  ];
}

async function startWorking(bench: Bench, database: Database): Promise<Server> {
  const file = join(await bench.createFolder(), 'agents.json');
  const command = [process.execPath, '-e', workingAgent];
  const profile = { id: 'working', command, mcp: false, 'memory_mb': 50, sandbox: { driver: 'none' } };
  await writeFile(file, JSON.stringify({ agents: [profile] }));
  return bench.startServer(database, { env: { AGENTS_CONFIG: file, MAX_CONCURRENT_SESSIONS: String(slots) } });
}

/** Fills the queue of the server's first organization with copies of one of its sessions. */
async function fillQueue({ client }: Database, server: Server): Promise<void> {
  const input = { organizationId: `org-${server.organizationId}`, prompt: `work ${workMs}` };
  const { session } = await mutate(server, 'createSession', 'session { sessionId }', input);
  const id = (session.sessionId as string).replace('devin-', '');
  await client.query('begin');
  const copies = (table: string, changes: string, condition: string) =>
    client.query(
      `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(${changes}))).*
         from ${table} t, generate_series(1, ${queued}) n where ${condition}`,
      [id],
    );
  const copyId = `md5('copy' || n)`;
  await copies('session', `'id', ${copyId}, 'status', 'new', 'status_detail', null`, 't.id = $1');
  await copies('session_head', `'session_id', ${copyId}, 'next_seq', 3, 'generation', 0`, 't.session_id = $1');
  await copies(
    'log_entry',
    `'session_id', ${copyId}, 'id', md5('entry' || n || t.seq)`,
    't.session_id = $1 and t.seq <= 2',
  );
  await client.query(
    `insert into run (session_id, organization_id, principal_id, queued_at)
     select md5('copy' || n), r.organization_id, r.principal_id, now() + n * interval '1 microsecond'
       from run r, generate_series(1, ${queued}) n where r.session_id = $1`,
    [id],
  );
  await client.query('commit');
  await client.query('analyze');
}

async function measureTimes(bench: Bench, database: Database, server: Server): Promise<Times> {
  const starts: number[] = [];
  const queries: number[] = [];
  const input = { organizationId: `org-${server.organizationId}`, prompt: 'work 1' };
  const document = 'query One($id: ID!) { session(id: $id) { id title status updatedAt } }';
  let id = '';
  for (let n = 0; n < (bench.options.isQuick ? 20 : 60); n++) {
    const from = nowMs();
    const { session } = await mutate(server, 'createSession', 'session { sessionId }', input);
    id = session.sessionId;
    starts.push((await promptedAt(database, id.replace('devin-', ''))) - from);
  }
  for (let n = 0; n < (bench.options.isQuick ? 1_000 : 5_000); n++) {
    const from = nowMs();
    await askOnce(server.url, graphqlRequest(server.token, document, { id }));
    queries.push(nowMs() - from);
  }
  return { starts: starts.toSorted((a, b) => a - b), queries: queries.toSorted((a, b) => a - b) };
}

async function promptedAt({ client }: Database, id: string): Promise<number> {
  for (;;) {
    const { rows } = await client.query(
      `select body from log_entry where session_id = $1 and message_type = 'agent_message'`,
      [id],
    );
    const at = /prompted:([\d.]+);/.exec(rows[0]?.body ?? '')?.[1];
    if (at !== undefined) return Number(at);
    await wait(50);
  }
}
