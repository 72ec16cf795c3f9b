import type pg from 'pg';
import { startBare } from './support/baselines.ts';
import type { Bench, Server } from './support/bench.ts';
import { type Candidate, compare, costOf } from './support/compare.ts';
import type { HttpRequest } from './support/load.ts';
import type { Row } from './support/measures.ts';
import { profileRequests } from './support/profile-requests.ts';
import { seed } from './support/seed.ts';

/** The number of sessions among which the messages rotate. */
export const appendSessions = 200;

const body = JSON.stringify({ message: 'Go on with the next part, please, and tell me when you have done it.' });

/** Requests that send a message to each of a server's sessions. */
export function appendRequests(
  { token, organizationId }: Pick<Server, 'token' | 'organizationId'>,
  ids: readonly string[],
): HttpRequest[] {
  const headers = { 'authorization': `Bearer ${token}`, 'content-type': 'application/json' };
  const path = (id: string) => `/v3/organizations/org-${organizationId}/sessions/${id}/messages`;
  return ids.map((id) => ({ method: 'POST', path: path(id), headers, body }));
}

/**
 * Sending a message, with its log entry, notification and audit entry, compared with one INSERT, both over HTTP and on
 * the same database. Without workers: answers to the messages are not measured.
 */
export async function measureAppend(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const server = await bench.startServer(database, { env: { ROLES: 'api' } });
  const { client } = database;
  await seed(client, { organizationId: server.organizationId, sessions: appendSessions, entriesEach: 2 });
  await client.query('insert into run (session_id) select id from session');
  await client.query('analyze run');
  await client.query(
    'create table bare_entry (id text primary key, session_id text, body text, created_at timestamptz(3))',
  );
  const bare = await startBare(bench, database);
  const ids = (await client.query('select id from session where not is_archived')).rows.map(({ id }) => id as string);
  const ours: Candidate = { ...server, name: 'append', requests: appendRequests(server, ids), isVarying: true };
  const baseline: Candidate = {
    ...bare,
    name: 'bare INSERT',
    requests: ids.map((id) => ({
      method: 'POST',
      path: `/append/${id}`,
      headers: { 'content-type': 'application/json' },
      body,
    })),
    isVarying: true,
  };
  const costs = await compare(bench, [baseline, ours], { isWarm: true });
  const [own, insert] = [costOf(costs, 'append'), costOf(costs, 'bare INSERT')];
  await requireCount(client, `log_entry where message_type = 'user_message'`, own.requests);
  await requireCount(client, `audit_entry where action = 'send_message'`, own.requests);
  await requireCount(client, 'bare_entry', insert.requests);
  if (bench.options.isProfiled) {
    await profileRequests(bench, database, ({ url }) => ({ url, requests: ours.requests, isVarying: true }));
  }
  return [
    {
      name: 'append/throughput',
      value: own.perSecond / insert.perSecond,
      note: `${Math.round(own.perSecond)}/s, ${own.cpuMs.toFixed(3)} ms; bare ${Math.round(insert.perSecond)}/s, ${insert.cpuMs.toFixed(3)} ms; ${await durability(client)}`,
    },
  ];
}

async function requireCount(client: pg.Client, from: string, expected: number): Promise<void> {
  const [row] = (await client.query(`select count(*)::int as count from ${from}`)).rows;
  if (row.count !== expected) throw new Error(`${expected} rows were expected of ${from}, but there are ${row.count}.`);
}

async function durability(client: pg.Client): Promise<string> {
  const shown = async (name: string) => (await client.query(`show ${name}`)).rows[0][name];
  return `fsync ${await shown('fsync')}, synchronous_commit ${await shown('synchronous_commit')}`;
}
