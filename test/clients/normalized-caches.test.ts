import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { makeManySessions, sayMany } from '../support/many-sessions.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';

// The caches of urql and Apollo merge the pages of a connection, each by its own implementation of Relay's rules.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const sessions = `query($id: ID!, $after: String) {
  organization(id: $id) { __typename id sessions(first: 100, after: $after) {
    __typename edges { __typename cursor node { __typename id sessionId } } pageInfo { __typename endCursor hasNextPage }
  } }
}`;
const messages = `query($id: ID!, $after: String) {
  session(id: $id) { __typename id messages(first: 100, after: $after) {
    __typename edges { __typename cursor node { __typename id body } } pageInfo { __typename endCursor hasNextPage }
  } }
}`;

/** A client with a cache: requests the page after a cursor, and returns all pages that it has so far. */
type Ask = (query: string, variables: { id: string; after?: string }) => Promise<any>;

function urql(token: string): Ask {
  const resolvers = { Organization: { sessions: relayPagination() }, Session: { messages: relayPagination() } };
  const client = new Client({
    url: `${app.url}/graphql`,
    preferGetMethod: false,
    fetchOptions: { headers: { authorization: `Bearer ${token}` } },
    exchanges: [cacheExchange({ resolvers }), fetchExchange],
  });
  return async (query, variables) => {
    const { data, error } = await client.query(query, variables).toPromise();
    if (error) throw error;
    return data;
  };
}

function apollo(token: string): Ask {
  const typePolicies = {
    Organization: { fields: { sessions: relayStylePagination() } },
    Session: { fields: { messages: relayStylePagination() } },
  };
  const http = new HttpLink({ uri: `${app.url}/graphql`, headers: { authorization: `Bearer ${token}` } });
  const client = new ApolloClient({ link: ApolloLink.from([http]), cache: new InMemoryCache({ typePolicies }) });
  return async (text, variables) => {
    const query = gql(text);
    await client.query({ query, variables, fetchPolicy: 'network-only' });
    return client.readQuery({ query, variables: { id: variables.id } });
  };
}

const clients: [string, (token: string) => Ask][] = [
  ['urql', urql],
  ['Apollo', apollo],
];

async function readAll(
  ask: Ask,
  query: string,
  id: string,
  list: (data: any) => any,
  onPage: (page: number) => unknown,
) {
  let read = list(await ask(query, { id }));
  for (let page = 0; read.pageInfo.hasNextPage; page += 1) {
    await onPage(page);
    read = list(await ask(query, { id, after: read.pageInfo.endCursor }));
  }
  return read.edges.map(({ node }: any) => node);
}

test.each(clients)(
  '%s: pages through 1,000 sessions while new ones are created',
  { timeout: 60_000 },
  async (_, client) => {
    const { organizationId, token } = await makeOrganization(app, 'Caches');
    const ids = await makeManySessions(app, organizationId, 1_000);
    const onPage = () => createSession(app, { organizationId }, app.adminToken);
    const nodes = await readAll(client(token), sessions, organizationId, (data) => data.organization.sessions, onPage);
    expect(nodes.map(({ sessionId }: any) => sessionId)).toEqual(ids.map((id) => `devin-${id}`));
  },
);

test.each(clients)(
  '%s: pages through 1,000 messages while new ones are created',
  { timeout: 60_000 },
  async (_, client) => {
    const id = await createSession(app, { prompt: 'm' });
    await sayMany(app, id, 1_000);
    let live = 0;
    const onPage = async () => {
      if (live < 5) await say(app, id, `live ${live++}`);
    };
    const nodes = await readAll(client(app.adminToken), messages, id, (data) => data.session.messages, onPage);
    const bodies = [
      ...Array.from({ length: 1_000 }, (_, n) => `m${n}`),
      ...Array.from({ length: 5 }, (_, n) => `live ${n}`),
    ];
    expect(nodes.map(({ body }: any) => body)).toEqual(['m', ...bodies]);
  },
);
