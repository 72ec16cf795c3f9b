import { type GraphQLObjectType, getNamedType } from 'graphql';
import type { Client } from 'graphql-ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStream } from '../support/event-stream.ts';
import { connect, follow } from '../support/sockets.ts';
import { fieldsOf, schema, selectionOf } from './documents.ts';
import { Document } from './graphql-operations.ts';
import { readInputs } from './inputs.ts';
import { Matrix } from './matrix.ts';
import type { Fill, Operation } from './operation.ts';
import { livePrincipals, type Principal } from './principals.ts';
import { readDocuments, restOperations } from './rest-operations.ts';
import { comparable } from './send.ts';
import { foreignIds, neverId } from './slots.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.test.close());

/** A subscription without a message within this time was accepted: refusals come at once. */
const maxMs = 5_000;

type Subscribe = (fill: Fill) => Promise<string>;

it('refuses another tenant’s subscription like one for an unknown object', { timeout: 600_000 }, async () => {
  const matrix = new Matrix(world);
  const began = new Set<string>();
  const operations = subscriptions();
  for (const principal of livePrincipals(world)) {
    const client = connect(world.test.url, principal.token);
    for (const operation of operations) {
      for (const [transport, subscribe] of transports(principal, client, operation)) {
        const name = `${operation.name} by ${transport}`;
        matrix.cases.add(`${name} / ${principal.name}`);
        await compareRefusals(matrix, principal, operation, name, subscribe);
        const own = await subscribe(matrix.fill(principal, operation, 0, false));
        matrix.inspect(principal, name, null, own);
        if (own.includes('"data"') && !own.includes('"errors"')) began.add(name);
      }
    }
    await client.dispose();
  }
  await runStreams(matrix, began);
  process.stdout.write(`${matrix.summary('Subscriptions')}\n`);
  expect(matrix.problems).toEqual([]);
  const names = operations.flatMap(({ name }) => [`${name} by WebSocket`, `${name} by server-sent events`]);
  expect([...began].filter((name) => name.startsWith('Sub')).toSorted(), 'Each must begin for somebody.').toEqual(
    names.toSorted(),
  );
});

// The REST API refuses a stream with a status.
async function runStreams(matrix: Matrix, began: Set<string>): Promise<void> {
  const routes = (await readDocuments(world.test)).flatMap(restOperations).filter(({ isStream }) => isStream);
  for (const principal of livePrincipals(world)) {
    for (const route of routes) {
      matrix.cases.add(`${route.name} / ${principal.name}`);
      const subscribe: Subscribe = (fill) => readStream(principal, route.call(fill).path);
      const own = await subscribe(matrix.fill(principal, route, 0, false));
      matrix.inspect(principal, route.name, null, own);
      if (own.startsWith('200')) began.add(route.name);
      await compareRefusals(matrix, principal, route, route.name, subscribe);
    }
  }
  expect(routes.map(({ name }) => name).filter((name) => !began.has(name))).toEqual([]);
  expect(routes.length).toBeGreaterThan(0);
}

async function readStream(principal: Principal, path: string): Promise<string> {
  const aborting = new AbortController();
  const response = await fetch(world.test.url + path, {
    headers: { authorization: `Bearer ${principal.token}`, accept: 'text/event-stream' },
    signal: aborting.signal,
  });
  if (response.status !== 200) return `${response.status} ${await response.text()}`;
  const reader = response.body?.getReader();
  const first = await reader?.read();
  aborting.abort();
  return `200 ${new TextDecoder().decode(first?.value)}`;
}

function subscriptions(): Operation[] {
  const type = schema.getSubscriptionType() as GraphQLObjectType;
  return fieldsOf(type).map((field) => {
    const inputs = readInputs(field.args, field.name);
    return {
      name: `Subscription.${field.name}`,
      isWrite: false,
      ...inputs,
      call(fill: Fill) {
        const document = new Document();
        const args = document.args(field, inputs.values(fill));
        const selection = selectionOf(getNamedType(field.type));
        return document.call('subscription', `{ ${field.name}${args} ${selection} }`);
      },
      isSuccess: () => true,
    };
  });
}

function transports(principal: Principal, client: Client, operation: Operation): [string, Subscribe][] {
  const bodyOf = (fill: Fill) => operation.call(fill).body as { query: string; variables: Record<string, unknown> };
  return [
    [
      'WebSocket',
      async (fill) => {
        const { query, variables } = bodyOf(fill);
        const following = follow(client, query, variables);
        const payload = following.take(1).then(
          ([each]) => each,
          () => following.errors(),
        );
        const received = await firstOf(payload);
        following.stop();
        return received;
      },
    ],
    [
      'server-sent events',
      async (fill) => {
        const { query, variables } = bodyOf(fill);
        const stream = await openStream(world.test.url, principal.token, query, variables);
        const received = await firstOf(stream.take(1).catch((error: unknown) => String(error)));
        stream.abort();
        return received;
      },
    ],
  ];
}

/** The interval of changes in every organization, for subscriptions without other events. */
const changeMs = 200;

async function changeResources(): Promise<void> {
  const { store, notifier } = world.test.app.services;
  await store.execute('update session set is_fresh = not is_fresh');
  await store.execute('update automation_run set attempts = attempts + 1');
  await store.execute('update webhook_delivery set attempt_count = attempt_count + 1');
  for (const { id } of await store.query<{ id: string }>('select id from organization')) {
    notifier.notify(`organization:${id}`);
    notifier.notify(`resources:${id}`);
  }
}

async function firstOf(payload: Promise<unknown>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const changing = setInterval(() => changeResources().catch(() => undefined), changeMs);
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('It is open, and silent.'), maxMs);
  });
  const received = await Promise.race([payload, timeout]);
  clearTimeout(timer);
  clearInterval(changing);
  return JSON.stringify(received);
}

async function compareRefusals(
  matrix: Matrix,
  principal: Principal,
  operation: Operation,
  name: string,
  subscribe: Subscribe,
): Promise<void> {
  const base = matrix.fill(principal, operation, 0, false);
  // Other optional arguments only filter events; they are not looked up.
  for (const slot of operation.slots.filter(({ isRequired, name }) => isRequired || name === 'organizationId')) {
    for (const kind of slot.kinds) {
      const ask = async (id: string) => {
        const text = await subscribe({ ...base, ids: new Map([...base.ids, [slot.name, { kind, id }]]) });
        matrix.inspect(principal, name, id, text);
        return comparable({ status: 200, text, headers: '' }, [id]);
      };
      const never = await ask(neverId);
      expect(never).toMatch(/NOT_FOUND|FORBIDDEN|40[134] /);
      for (const [tenant, id] of foreignIds(world, principal, kind, slot.fits)) {
        const there = await ask(id);
        if (there === never) continue;
        matrix.problems.push(
          `${name} as ${principal.name} tells ${slot.name} of ${tenant}: ${there} instead of ${never}`,
        );
      }
    }
  }
}
