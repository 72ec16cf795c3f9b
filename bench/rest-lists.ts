import { startBare } from './support/baselines.ts';
import type { Bench } from './support/bench.ts';
import { compare, costOf } from './support/compare.ts';
import { askOnce, getRequest, requireSame } from './support/http.ts';
import type { Row } from './support/measures.ts';
import { seed } from './support/seed.ts';

/** The session lists of v1 and v3, 100 sessions each, compared with the bare server. */
export async function measureRestLists(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const server = await bench.startServer(database);
  const { organizationId: id } = server;
  await seed(database.client, { organizationId: id, sessions: 2_000, entriesEach: 2 });
  const bare = await startBare(bench, database);
  const lists = [
    {
      version: 'v1',
      ours: getRequest('/v1/sessions?limit=100', server.v1Key),
      bare: getRequest(`/v1/${id}?limit=100`),
      itemsOf: (answer: any) => answer.sessions,
    },
    {
      version: 'v3',
      ours: getRequest(`/v3/organizations/org-${id}/sessions?first=100`, server.token),
      bare: getRequest(`/v3/organizations/${id}/sessions?first=100`),
      itemsOf: (answer: any) => answer.items,
    },
  ];
  for (const list of lists) {
    const answer = await askOnce(server.url, list.ours);
    if (list.itemsOf(answer).length !== 100) throw new Error(`The ${list.version} list has not 100 sessions.`);
    requireSame(`the ${list.version} list`, answer, await askOnce(bare.url, list.bare));
  }
  const costs = await compare(
    bench,
    lists.flatMap((list) => [
      { ...bare, name: `bare ${list.version}`, requests: [list.bare] },
      { ...server, name: list.version, requests: [list.ours] },
    ]),
  );
  return lists.map(({ version }) => {
    const [ours, baseline] = [costOf(costs, version), costOf(costs, `bare ${version}`)];
    return {
      name: `rest-lists/${version as 'v1' | 'v3'}-cpu`,
      value: ours.cpuMs / baseline.cpuMs,
      note: `${ours.cpuMs.toFixed(3)} ms, ${Math.round(ours.perSecond)}/s; bare ${baseline.cpuMs.toFixed(3)} ms, ${Math.round(baseline.perSecond)}/s`,
    };
  });
}
