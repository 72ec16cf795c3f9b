import { inspect } from 'node:util';
import type { Log } from '../../src/domain/context.ts';
import { call, graphql, type TestApp } from './app.ts';
import type { CanarySearch } from './canary-search.ts';

/** Searches every value of every text, JSON, array and byte column of the database. */
export async function searchDatabase(search: CanarySearch, { app }: Pick<TestApp, 'app'>): Promise<void> {
  const columns = await app.services.store.query<{ table: string; names: string[] }>(
    `select quote_ident(table_name) as table, array_agg(quote_ident(column_name)::text order by ordinal_position) as names
       from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and table_type = 'BASE TABLE'
        and data_type in ('text', 'character varying', 'character', 'json', 'jsonb', 'ARRAY', 'bytea')
      group by 1 order by 1`,
  );
  for (const { table, names } of columns) {
    const values = names.map((name) => `${name}::text`).join(', ');
    const rows = await app.services.store.query<{ row: (string | null)[] }>(
      `select array[${values}] as row from ${table}`,
    );
    for (const { row } of rows)
      for (const [n, value] of row.entries())
        if (value !== null) search.look('database value', `${table}.${names[n]}`, value);
  }
}

/** A log whose lines are searched, whatever their level, with all that their fields refer to. */
export function searchedLog(search: CanarySearch): Log {
  const write = (fields: object, message: string) => {
    const line = `${message} ${inspect(fields, { depth: 20, maxStringLength: null, maxArrayLength: null })}`;
    search.look('process log', message, line);
  };
  return { debug: write, info: write, warn: write, error: write };
}

const sessionDocument = `query($id: ID!) { session(id: $id) { title structuredOutput
  repositories { path branch state error } pullRequests { url number state title headBranch baseBranch }
  messages(first: 100) { nodes { body } }
  changes { repository { path } patchUrl bundleUrl files(first: 50) { nodes { path hunks { lines } } } }
  events(first: 100) { nodes { __typename kind ... on SessionMessage { body } ... on ThoughtEvent { body }
    ... on NoticeEvent { body } ... on ErrorEvent { body } ... on PushEvent { branch refusal subjects }
    ... on ToolCallEvent { title output locations { path } diffs { path newText } } } } } }`;
const enterpriseDocument = `{ gitConnections(first: 10) { nodes { name host webhookUrl hasWebhookSecret
  repositories(first: 10) { nodes { path } } } } }`;

/** Reads what the APIs show of a session and of the connections to forges, and searches the responses. */
export async function searchApis(search: CanarySearch, test: TestApp, sessionId: string): Promise<void> {
  const look = (location: string, content: unknown) => search.look('API response', location, JSON.stringify(content));
  const session = await graphql(test, test.adminToken, sessionDocument, { id: `devin-${sessionId}` });
  if (session.errors) throw new Error(JSON.stringify(session.errors));
  look('GraphQL session', session.data);
  for (const event of session.data.session.events.nodes) search.look('log entry', event.kind, JSON.stringify(event));
  look('GraphQL connections', await graphql(test, test.adminToken, enterpriseDocument));
  for (const { patchUrl } of session.data.session.changes ?? [])
    if (patchUrl) look('patch', await (await fetch(patchUrl)).text());
  const v3 = `/v3/organizations/${test.organizationId}/sessions`;
  const paths = [
    [test.v1Key, `/v1/sessions/devin-${sessionId}`],
    [test.v1Key, '/v1/sessions'],
    [test.adminToken, v3],
    [test.adminToken, `${v3}/devin-${sessionId}`],
    [test.adminToken, `${v3}/devin-${sessionId}/messages`],
    [test.adminToken, '/v3/enterprise/git-providers/connections'],
    [test.adminToken, '/v3/enterprise/audit-logs'],
  ] as const;
  for (const [token, path] of paths) {
    const answer = await call(test, token, 'GET', path);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    look(path, answer.body);
  }
}
