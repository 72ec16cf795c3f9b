import { ApolloClient, gql as apolloGql, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { makeOrganization } from '../support/sessions.ts';
import { readText } from '../support/tree.ts';
import { gql, query } from '../support/typed-graphql.ts';

// Clients whose caches and types support inputs with exactly one member, interfaces and unions.

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const document = `mutation($input: CreateAutomationInput!) { createAutomation(input: $input) { __typename
  automation { __typename id triggers { __typename eventType ... on ScheduleTrigger { rule } }
    actions { __typename ... on StartSessionAction { prompt } ... on MessageSessionAction { prompt autoCreate } }
    createdBy { __typename id displayName ... on User { name } ... on ServiceUser { name } } } } }`;

const rule = 'DTSTART:20990301T090000\nRRULE:FREQ=DAILY';
const input = {
  name: 'Made',
  triggers: [{ schedule: { rule } }, { event: { eventType: 'session:finished' } }],
  actions: [{ startSession: { prompt: 'Sweep.' } }, { messageSession: { prompt: 'Well?', autoCreate: true } }],
};

const possibleTypes = {
  AutomationTrigger: ['ScheduleTrigger', 'IncomingWebhookTrigger', 'EventTrigger'],
  AutomationAction: ['StartSessionAction', 'MessageSessionAction', 'MonitorSessionAction'],
  Principal: ['User', 'ServiceUser', 'ServiceKey', 'SystemPrincipal'],
};

const introspection = introspectionFromSchema(buildSchema(readText('schema.graphql')));
const withoutId = [...possibleTypes.AutomationTrigger, ...possibleTypes.AutomationAction];
const keys = Object.fromEntries(withoutId.map((name) => [name, () => null]));

const clients: [string, (token: string) => (variables: { input: typeof input }) => Promise<any>][] = [
  [
    'urql',
    (token) => {
      const fetchOptions = { headers: { authorization: `Bearer ${token}` } };
      const exchanges = [cacheExchange({ schema: introspection, keys }), fetchExchange];
      const client = new Client({ url: `${app.url}/graphql`, preferGetMethod: false, fetchOptions, exchanges });
      return async (variables) => {
        const { data, error } = await client.mutation(document, variables).toPromise();
        if (error) throw error;
        return data;
      };
    },
  ],
  [
    'Apollo',
    (token) => {
      const link = new HttpLink({ uri: `${app.url}/graphql`, headers: { authorization: `Bearer ${token}` } });
      const client = new ApolloClient({ link, cache: new InMemoryCache({ possibleTypes }) });
      return async (variables) => (await client.mutate({ mutation: apolloGql(document), variables })).data;
    },
  ],
];

test.each(clients)('%s: sends one member of an input, and reads the created object', async (_, client) => {
  const { token } = await makeOrganization(app, 'Choices');
  const { createAutomation } = await client(token)({ input });
  expect(createAutomation.automation).toMatchObject({
    triggers: [
      { __typename: 'ScheduleTrigger', eventType: 'schedule:recurring', rule },
      { __typename: 'EventTrigger', eventType: 'session:finished' },
    ],
    actions: [
      { __typename: 'StartSessionAction', prompt: 'Sweep.' },
      { __typename: 'MessageSessionAction', prompt: 'Well?', autoCreate: true },
    ],
    createdBy: { __typename: 'ServiceUser', displayName: 'Choices bot', name: 'Choices bot' },
  });
});

test('gql.tada: knows the types of an input with exactly one member', async () => {
  const { token } = await makeOrganization(app, 'Typed');
  const make = gql(`mutation($action: AutomationActionInput!) {
    createAutomation(input: { name: "Typed", triggers: [], actions: [$action] }) {
      automation { actions { __typename ... on StartSessionAction { prompt } } } } }`);
  const made = await query(app, token, make, { action: { startSession: { prompt: 'Sweep.' } } });
  expect(made.createAutomation?.automation?.actions).toEqual([{ __typename: 'StartSessionAction', prompt: 'Sweep.' }]);
  const both = { startSession: { prompt: 'a' }, messageSession: { prompt: 'b' } };
  await expect(query(app, token, make, { action: both })).rejects.toThrow('Exactly one key must be specified');
  // @ts-expect-error The generated types require one member; the server must refuse none as well.
  await expect(query(app, token, make, { action: {} })).rejects.toThrow('Exactly one key must be specified');
});
