import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { globalId, type IdKind, newId, prefixedId } from '../../src/domain/ids.ts';
import {
  type Attempt,
  type Filling,
  goodRequest,
  type Route,
  refusedRequests,
  routesOf,
  wildRequests,
} from '../support/arbitraries-of-requests.ts';
import { factor, seed } from '../support/property-runs.ts';
import { readText } from '../support/tree.ts';
import { isWithoutFeature } from '../tenancy/exceptions.ts';
import { readStamps, tableNames } from '../tenancy/rows.ts';
import { createSender, requireAnswer, type Sender } from './property-answers.ts';
import { goodBody, type PropertyWorld, startPropertyWorld } from './property-world.ts';
import { call } from './rest-app.ts';

/** The number of requests per route: those that must be refused, and those with any outcome. */
const runs = { refused: 18, wild: 30 } as const;

/**
 * Sent exactly, it would revoke all keys, including the tests' own: test/rest/property-api-keys.test.ts sends similar
 * paths.
 */
const everyKey = 'DELETE /v2/enterprise/api-keys/';

/** The published routes of all versions. */
export const publishedRoutes: readonly string[] = ['v1', 'v2', 'v3'].flatMap((version) =>
  readText(`test/rest/published/${version}.txt`).trim().split('\n'),
);

/** The minimum number of requests of all routes together. */
export const requestsOfAllRoutes: number = (publishedRoutes.length - 1) * (runs.refused + runs.wild);

const kindOf: Readonly<Record<string, string>> = {
  org_id: 'organization',
  devin_id: 'session',
  session_id: 'session',
  note_id: 'note',
  playbook_id: 'playbook',
  secret_id: 'secret',
  connection_id: 'gitConnection',
  git_permission_id: 'gitPermission',
  automation_id: 'automation',
  schedule_id: 'schedule',
  user_id: 'user',
  service_user_id: 'serviceUser',
  api_key_id: 'apiKey',
  uuid: 'attachment',
  name: 'name',
  tag: 'tag',
};

/** The kind of a path parameter's object: a key of the property world's resources. */
export function kindIn(route: Route, name: string): string {
  const kind = kindOf[name] ?? 'walk';
  const isOfEnterprise = /^\/v\d\/enterprise\//.test(route.path) && !route.path.includes('{org_id}');
  if (isOfEnterprise && kind === 'note') return 'enterpriseNote';
  if (isOfEnterprise && kind === 'playbook') return 'enterprisePlaybook';
  if (isOfEnterprise && kind === 'serviceUser') return 'enterpriseServiceUser';
  if (isOfEnterprise && kind === 'user') return 'enterpriseUser';
  if (route.method === 'POST' && name === 'user_id') return 'outsider';
  return kind;
}

const idKinds = {
  schedule: 'automation',
  enterpriseNote: 'note',
  enterprisePlaybook: 'playbook',
  outsider: 'user',
  enterpriseUser: 'user',
  enterpriseServiceUser: 'serviceUser',
} as const;

const idKindOf = (kind: string) => (kind in idKinds ? idKinds[kind as keyof typeof idKinds] : kind) as IdKind;

/** An id in all forms that clients send. */
function formsOf(kind: string, id: string): string[] {
  if (!/^[0-9a-f]{32}$/.test(id)) return [encodeURIComponent(id)];
  const idKind = idKindOf(kind);
  const prefixed = prefixedId(idKind, id);
  const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return [prefixed, id, prefixedId(idKind, prefixed), uuid, id.toUpperCase(), encodeURIComponent(globalId(idKind, id))];
}

const isSessionAct = (route: Route, name: string) => name === 'devin_id' && route.method !== 'GET';

/** The values for a route; a route that deletes gets objects of its own. */
async function fillingOf(world: PropertyWorld, route: Route): Promise<Filling> {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const ids = new Map<string, string[]>();
  const others: string[] = [];
  for (const name of names) {
    const kind = kindIn(route, name);
    // An archived session cannot be used for other requests either.
    const isDeleted = route.method === 'DELETE' && route.path.endsWith(`{${name}}`);
    // Other routes delete all git permissions.
    const isDoomed = isDeleted || isSessionAct(route, name) || kind === 'gitPermission';
    const found = isDoomed ? [await world.make(kind), await world.make(kind)] : [world.resourceIds[kind] ?? 'walk'];
    ids.set(
      name,
      found.flatMap((id) => formsOf(kind, id)),
    );
    const hex = found[0] ?? '';
    others.push(hex.slice(0, -1), `${hex}0`, `x${hex}`);
  }
  const own = new Set(names.map((name) => idKindOf(kindIn(route, name))));
  const isOther = ([kind]: readonly [string, string]) => !own.has(idKindOf(kind));
  const foreign = Object.entries(world.resourceIds)
    .filter(isOther)
    .flatMap(([kind, id]) => formsOf(kind, id));
  const never = ['0'.repeat(32), 'f'.repeat(32), newId(), `user-${newId()}`, '0', '-1', 'null'];
  return {
    ids: (name) => ids.get(name) ?? ['walk'],
    otherIds: [...never, ...others, ...(route.method === 'DELETE' ? [] : foreign)],
    body: () => goodBody(world, route.name, route.body?.properties ?? {}),
  };
}

async function clearIpAccessList(test: PropertyWorld['test']): Promise<void> {
  const { status } = await call(test, test.adminToken, 'DELETE', '/v3/enterprise/ip-access-list');
  expect(status).toBeLessThan(300);
}

/** Tests these routes; `share` selects them. */
export function testRoutes(isOfShare: (name: string) => boolean): void {
  const names = publishedRoutes.filter((name) => isOfShare(name) && name !== everyKey);
  let world: PropertyWorld;
  let sender: Sender;
  let routes: ReadonlyMap<string, Route>;

  beforeAll(async () => {
    world = await startPropertyWorld();
    sender = createSender(world.test);
    const versions = ['v1', 'v2', 'v3'].map(async (version) => {
      const { body } = await call(world.test, null, 'GET', `/openapi/${version}.json`);
      return routesOf(body);
    });
    routes = new Map((await Promise.all(versions)).flat().map((route) => [route.name, route]));
  });
  // An IP access list that a request created may exclude the address from which the tests send.
  afterEach(({ task }) => (task.name.includes('/ip-access-list') ? clearIpAccessList(world.test) : undefined));
  afterAll(() => world.test.close());

  const routeOf = (name: string) => routes.get(name) as Route;
  const hold = async (route: Route, filling: Filling, kind: 'refused' | 'wild') => {
    const attempts = (kind === 'refused' ? refusedRequests : wildRequests)(route, filling);
    const check = async (attempt: Attempt) => requireAnswer(route, attempt, await sender.send(attempt));
    await fc.assert(fc.asyncProperty(attempts, check), { seed, numRuns: runs[kind] * factor });
  };
  // Values that change when keys are used are excluded.
  const readTables = async () => {
    const tables = await tableNames(world.test);
    return readStamps(
      world.test,
      tables.filter((table) => table !== 'api_key' && table !== 'legacy_call'),
    );
  };

  describe('as it should be, it is taken', () => {
    test.each(names.filter((name) => !isWithoutFeature(name) && !/^POST .*\/attachments$/.test(name)))(
      '%s',
      async (name) => {
        const route = routeOf(name);
        const sent = goodRequest(route, await fillingOf(world, route));
        const answer = await sender.send(sent);
        expect(answer.status, `${JSON.stringify(sent)}: ${answer.text}`).toBeLessThan(400);
      },
    );
  });

  describe('with one thing wrong it is refused, the answer says what, and nothing is written', () => {
    test.each(names)('%s', async (name) => {
      const filling = await fillingOf(world, routeOf(name));
      const before = await readTables();
      await hold(routeOf(name), filling, 'refused');
      expect(await readTables()).toEqual(before);
    });
  });

  describe('whatever is sent gets an answer of the version’s form', () => {
    test.each(names)('%s', async (name) => hold(routeOf(name), await fillingOf(world, routeOf(name)), 'wild'));
  });

  test('every route got its share of the requests', () => {
    expect(sender.count).toBeGreaterThanOrEqual(names.length * (runs.refused + runs.wild));
    expect(requestsOfAllRoutes).toBeGreaterThanOrEqual(10_000);
  });
}
