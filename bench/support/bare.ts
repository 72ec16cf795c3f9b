// The baseline: node:http and pg, one hand-written, prepared statement for each request, JSON out. No authentication,
// no limits. Its responses equal the service's, byte for byte where `bench/` compares them. Arguments: the database,
// the base URL.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';

const [, , databaseUrl = '', baseUrl = ''] = process.argv;
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const cursor = (text: string) => Buffer.from(text).toString('base64url');
const url = (id: string) => `${baseUrl}/sessions/${id}`;

async function select(name: string, text: string, values: unknown[]): Promise<any[]> {
  return (await pool.query({ name, text, values })).rows;
}

const pageSql = `
  select s.id, s.title, s.status, s.status_detail, s.tags, s.created_at, s.updated_at, m.messages from (
    select * from session where organization_id = $1 and not is_unlisted order by created_at desc, id desc limit 21) s
   cross join lateral (select json_agg(json_build_array(e.seq, e.id, e.message_type, e.body, e.created_at)) as messages from (
      select * from log_entry where session_id = s.id and message_type is not null order by seq limit 6) e) m
   order by s.created_at desc, s.id desc`;

const pageInfo = (hasNextPage: boolean, endCursor: string | null) => ({ hasNextPage, endCursor });

async function page(id: string): Promise<object> {
  const rows = await select('page', pageSql, [id.replace('org-', '')]);
  const edges = rows.slice(0, 20).map((row) => {
    const messages = (row.messages ?? []).slice(0, 5).map(([seq, eventId, type, body, at]: any[]) => ({
      cursor: cursor(`log|${row.id}|${seq}`),
      node: {
        id: base64(`SessionMessage:${eventId}`),
        type: type.toUpperCase(),
        body,
        createdAt: new Date(at).toISOString(),
      },
    }));
    return {
      cursor: cursor(`sessions.createdAt|${row.created_at.getTime()}|${row.id}`),
      node: {
        id: base64(`Session:${row.id}`),
        sessionId: `devin-${row.id}`,
        url: url(row.id),
        title: row.title,
        status: row.status.toUpperCase(),
        statusDetail: row.status_detail?.toUpperCase() ?? null,
        tags: row.tags,
        createdAt: row.created_at.toISOString(),
        updatedAt: row.updated_at.toISOString(),
        messages: {
          edges: messages,
          pageInfo: pageInfo((row.messages ?? []).length > 5, messages.at(-1)?.cursor ?? null),
        },
      },
    };
  });
  const sessions = { edges, pageInfo: pageInfo(rows.length > 20, edges.at(-1)?.cursor ?? null) };
  return { data: { organization: { sessions } } };
}

const sessionSql = `
  select id, title, status, status_detail, tags, created_at, updated_at, is_archived, origin, acus_consumed, pull_requests
    from session where id = $1`;

async function session(id: string): Promise<object> {
  const [row] = await select('session', sessionSql, [id]);
  return {
    data: {
      session: row && {
        id: base64(`Session:${row.id}`),
        sessionId: `devin-${row.id}`,
        url: url(row.id),
        title: row.title,
        status: row.status.toUpperCase(),
        statusDetail: row.status_detail?.toUpperCase() ?? null,
        tags: row.tags,
        createdAt: row.created_at.toISOString(),
        updatedAt: row.updated_at.toISOString(),
        isArchived: row.is_archived,
        origin: row.origin.toUpperCase(),
        acusConsumed: row.acus_consumed,
        pullRequests: row.pull_requests.map((each: any) => ({ ...each, state: each.state.toUpperCase() })),
      },
    },
  };
}

const v1Sql = `
  select s.id, s.status, s.ended_by, s.title, s.created_at, s.updated_at, s.snapshot_id, s.playbook_id, s.tags, s.pull_requests,
         s.structured_output, u.email
    from session s left join user_account u on u.id = s.user_id
   where s.organization_id = $1 and not s.is_unlisted order by s.created_at desc, s.id desc limit $2`;

async function v1List(organizationId: string, limit: number): Promise<object> {
  const rows = await select('v1', v1Sql, [organizationId, limit]);
  const sessions = rows.map((row) => {
    const pullRequest = row.pull_requests.at(-1);
    return {
      'session_id': `devin-${row.id}`,
      status: row.status,
      title: row.title,
      'created_at': row.created_at.toISOString(),
      'updated_at': row.updated_at.toISOString(),
      'snapshot_id': row.snapshot_id,
      'playbook_id': row.playbook_id,
      tags: row.tags,
      'pull_request': pullRequest ? { url: pullRequest.url } : null,
      'status_enum': row.status === 'error' ? 'blocked' : row.ended_by,
      'structured_output': row.structured_output === null ? null : JSON.stringify(row.structured_output),
      'requesting_user_email': row.email,
    };
  });
  return { sessions };
}

const v3Columns = `
  s.id, s.organization_id, s.status, s.status_detail, s.title, s.tags, s.created_at, s.updated_at, s.acus_consumed,
  s.pull_requests, s.user_id, s.service_user_id, s.parent_id, s.playbook_id, s.automation_id, s.snapshot_id, s.origin,
  s.is_archived, s.structured_output, array(select c.id from session c where c.parent_id = s.id
    order by c.created_at desc, c.id desc limit 200) as children`;
const v3ListSql = `
  select ${v3Columns} from session s where s.organization_id = $1 and not s.is_unlisted
   order by s.created_at desc, s.id desc limit $2`;
const v3OneSql = `select ${v3Columns} from session s where s.id = $1 and s.organization_id = $2`;

const prefixed = (prefix: string, id: string | null) => (id === null ? null : prefix + id);
const v3Session = (row: any) => ({
  'session_id': row.id,
  url: url(row.id),
  status: row.status,
  'status_detail': row.status_detail,
  title: row.title,
  tags: row.tags,
  'org_id': `org-${row.organization_id}`,
  'created_at': Math.floor(row.created_at.getTime() / 1_000),
  'updated_at': Math.floor(row.updated_at.getTime() / 1_000),
  'acus_consumed': row.acus_consumed,
  'pull_requests': row.pull_requests.map((each: any) => ({ 'pr_url': each.url, 'pr_state': each.state })),
  'user_id': prefixed('user-', row.user_id),
  'service_user_id': prefixed('service-user-', row.service_user_id),
  'parent_session_id': row.parent_id,
  'child_session_ids': row.children,
  'playbook_id': prefixed('playbook-', row.playbook_id),
  'automation_id': prefixed('automation-', row.automation_id),
  'snapshot_id': row.snapshot_id,
  origin: row.origin,
  'is_archived': row.is_archived,
  category: null,
  subcategory: null,
  'structured_output': row.structured_output,
});

async function v3List(organizationId: string, first: number): Promise<object> {
  const rows = await select('v3', v3ListSql, [organizationId, first + 1]);
  const items = rows.slice(0, first).map(v3Session);
  const last = rows[items.length - 1];
  const endCursor = last ? cursor(`sessions.createdAt|${last.created_at.getTime()}|${last.id}`) : null;
  return { items, 'end_cursor': endCursor, 'has_next_page': rows.length > first, total: null };
}

async function v3One(organizationId: string, id: string): Promise<object> {
  const [row] = await select('v3one', v3OneSql, [id, organizationId]);
  return v3Session(row);
}

let inserted = 0;
async function append(sessionId: string, message: string): Promise<object> {
  inserted += 1;
  await select('append', 'insert into bare_entry (id, session_id, body, created_at) values ($1, $2, $3, $4)', [
    `${process.pid} ${inserted}`,
    sessionId,
    message,
    new Date(),
  ]);
  return { 'event_id': inserted };
}

async function bodyOf(request: IncomingMessage): Promise<any> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString());
}

async function answer(request: IncomingMessage): Promise<object> {
  const [path = '', query] = (request.url ?? '').split('?');
  const limit = Number(query?.split('=')[1]);
  const parts = path.split('/');
  if (path === '/page') return page((await bodyOf(request)).variables.id);
  if (path === '/session') return session((await bodyOf(request)).variables.id);
  if (parts[1] === 'append') return append(parts[2] ?? '', (await bodyOf(request)).message);
  if (parts[1] === 'v1') return v1List(parts[2] ?? '', limit);
  if (parts[4] === 'sessions' && parts[5] === undefined) return v3List(parts[3] ?? '', limit);
  return v3One(parts[3] ?? '', parts[5] ?? '');
}

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  answer(request).then(
    (value) => {
      const text = JSON.stringify(value);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    },
    (error: Error) => response.writeHead(500).end(error.stack),
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`listening on ${typeof address === 'object' && address ? address.port : 0}\n`);
});
