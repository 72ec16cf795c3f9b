import { startBare } from './support/baselines.ts';
import type { Bench, Server } from './support/bench.ts';
import { type Candidate, compare, costOf } from './support/compare.ts';
import { askOnce, graphqlRequest, requireSame } from './support/http.ts';
import type { Row } from './support/measures.ts';
import { startPeer } from './support/peer.ts';
import { profileRequests } from './support/profile-requests.ts';
import { seed } from './support/seed.ts';

/** A typical list of a client: 20 sessions with the first 5 messages of each. */
export const pageDocument = `
  query Page($id: ID!) {
    organization(id: $id) {
      sessions(first: 20) {
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
    }
  }`;

/** The page as a request to the service. */
export const pageRequest = ({ token, organizationId }: Pick<Server, 'token' | 'organizationId'>) =>
  graphqlRequest(token, pageDocument, { id: `org-${organizationId}` });

/** The number of sessions, and of entries in each. */
export const pageSeed = { sessions: 2_000, entriesEach: 10 };

/** The GraphQL page compared with the bare server, and with PostGraphile if it can be installed. */
export async function measureGraphqlPage(bench: Bench): Promise<Row[]> {
  const database = await bench.createDatabase();
  const server = await bench.startServer(database);
  await seed(database.client, { ...pageSeed, organizationId: server.organizationId });
  const bare = await startBare(bench, database);
  const ours: Candidate = { ...server, name: 'Switchyard', requests: [pageRequest(server)] };
  const page = await askOnce(server.url, pageRequest(server));
  const bareRequest = { ...pageRequest(server), path: '/page' };
  const barePage = await askOnce(bare.url, bareRequest);
  if (page.data.organization.sessions.edges[19].node.messages.edges.length !== 5)
    throw new Error('The page is not one of 20 sessions with 5 messages each.');
  requireSame('the page', page.data, barePage.data);

  const peer = await startPeer(bench, database, server.organizationId, page);
  const candidates = [
    { ...bare, name: 'bare', requests: [bareRequest] },
    ours,
    ...(peer.candidate ? [peer.candidate] : []),
  ];
  const costs = await compare(bench, candidates, { isWarm: true });
  const [own, bareCost] = [costOf(costs, 'Switchyard'), costOf(costs, 'bare')];
  const peerCost = peer.candidate ? costOf(costs, peer.candidate.name) : null;
  if (bench.options.isProfiled) {
    await profileRequests(bench, database, ({ url }) => ({ url, requests: [pageRequest(server)] }));
  }
  return [
    {
      name: 'graphql-page/cpu',
      value: peerCost && own.cpuMs / peerCost.cpuMs,
      note: `${own.cpuMs.toFixed(3)} ms; ${peerCost ? `${peer.label} ${peerCost.cpuMs.toFixed(3)} ms` : peer.label}; bare ${bareCost.cpuMs.toFixed(3)} ms`,
    },
    {
      name: 'graphql-page/throughput',
      value: own.perSecond / bareCost.perSecond,
      note: `${Math.round(own.perSecond)}/s; bare ${Math.round(bareCost.perSecond)}/s${peerCost ? `; PostGraphile ${Math.round(peerCost.perSecond)}/s` : ''}`,
    },
  ];
}
