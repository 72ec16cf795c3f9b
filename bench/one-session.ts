import { startBare } from './support/baselines.ts';
import type { Bench } from './support/bench.ts';
import { compare, costOf } from './support/compare.ts';
import { askOnce, getRequest, graphqlRequest, requireSame } from './support/http.ts';
import type { Row } from './support/measures.ts';
import { seed } from './support/seed.ts';

const document = `
  query One($id: ID!) {
    session(id: $id) {
      id sessionId url title status statusDetail tags createdAt updatedAt isArchived origin acusConsumed
      pullRequests { url state }
    }
  }`;

/** The number of different sessions that are requested in turn. */
const sessionCount = 50;

/** One session by its id, by GraphQL and by v3, compared with the bare server. */
export async function measureOneSession(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const server = await bench.startServer(database);
  const { organizationId } = server;
  await seed(database.client, { organizationId, sessions: 2_000, entriesEach: 2 });
  const bare = await startBare(bench, database);
  const { rows } = await database.client.query('select id from session order by id desc limit $1', [sessionCount]);
  const ids = rows.map(({ id }) => id as string);
  const ours = ids.map((id) => graphqlRequest(server.token, document, { id }));
  const apis = [
    { api: 'graphql', ours, bare: ours.map((request) => ({ ...request, path: '/session' })) },
    {
      api: 'v3',
      ours: ids.map((id) => getRequest(`/v3/organizations/org-${organizationId}/sessions/${id}`, server.token)),
      bare: ids.map((id) => getRequest(`/v3/organizations/${organizationId}/sessions/${id}`)),
    },
  ];
  for (const { api, ours: own, bare: baseline } of apis) {
    for (const [n, request] of own.entries()) {
      const { extensions, ...answer } = await askOnce(server.url, request);
      requireSame(`one session by ${api}`, answer, await askOnce(bare.url, baseline[n] as typeof request));
    }
  }
  const costs = await compare(
    bench,
    apis.flatMap((each) => [
      { ...bare, name: `bare ${each.api}`, requests: each.bare },
      { ...server, name: each.api, requests: each.ours },
    ]),
  );
  return apis.map(({ api }) => {
    const [own, baseline] = [costOf(costs, api), costOf(costs, `bare ${api}`)];
    return {
      name: `one-session/${api as 'graphql' | 'v3'}-cpu`,
      value: own.cpuMs / baseline.cpuMs,
      note: `${own.cpuMs.toFixed(3)} ms, ${Math.round(own.perSecond)}/s; bare ${baseline.cpuMs.toFixed(3)} ms, ${Math.round(baseline.perSecond)}/s`,
    };
  });
}
