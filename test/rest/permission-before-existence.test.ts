import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Permission } from '../../src/auth/permissions.ts';
import { createApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { createUser } from '../../src/domain/identity/people/users.ts';
import { newId } from '../../src/domain/ids.ts';
import { type Route, routesOf } from '../support/arbitraries-of-requests.ts';
import { readText } from '../support/tree.ts';
import { isWithoutFeature } from '../tenancy/exceptions.ts';
import { kindIn } from './property-routes.ts';
import { goodBody, type PropertyWorld, startPropertyWorld } from './property-world.ts';
import { asAdministrator, call } from './rest-app.ts';

/** A caller with few permissions: its personal key and its personal access token. */
interface Caller {
  readonly name: string;
  readonly v1: string;
  readonly v3: string;
}

let world: PropertyWorld;
let callers: readonly Caller[];
let routes: ReadonlyMap<string, Route>;

async function makeCaller(name: string, ...permissions: readonly Permission[]): Promise<Caller> {
  const context = await asAdministrator(world.test);
  const { organizationId } = world.test;
  const role =
    permissions.length === 0
      ? 'org_member'
      : (await createRole(context, { name, scope: 'organization', permissions })).id;
  const { id: userId } = await createUser(context, {
    email: `${newId()}@example.test`,
    name,
    organizationId,
    roleId: role,
  });
  const v1 = await createApiKey(context, { kind: 'PERSONAL', name, organizationId, userId });
  const v3 = await createApiKey(context, { kind: 'PERSONAL_ACCESS_TOKEN', name, userId });
  return { name, v1: v1.token, v3: v3.token };
}

beforeAll(async () => {
  world = await startPropertyWorld();
  callers = [
    await makeCaller('who may only read sessions', 'ViewOrgSessions'),
    await makeCaller('who may only start sessions', 'UseSessions'),
    await makeCaller('who may only see members', 'ViewOrgMembership'),
    await makeCaller('a member, who may manage its own sessions'),
  ];
  const versions = ['v1', 'v2', 'v3'].map(async (version) =>
    routesOf((await call(world.test, null, 'GET', `/openapi/${version}.json`)).body),
  );
  routes = new Map((await Promise.all(versions)).flat().map((route) => [route.name, route]));
});
afterAll(() => world.test.close());

const published = ['v1', 'v2', 'v3'].flatMap((version) =>
  readText(`test/rest/published/${version}.txt`).trim().split('\n'),
);
const withIds = published.filter((name) => /\{(?!org_id\})\w+\}/.test(name) && !isWithoutFeature(name));

/** The path with ids of existing objects; or with an unknown id as the last one. */
function targetOf(route: Route, isThere: boolean): string {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const last = names.filter((name) => name !== 'org_id' && name !== 'name').at(-1);
  return route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(name === last && !isThere ? newId() : (world.resourceIds[kindIn(route, name)] ?? 'walk')),
  );
}

async function send(caller: Caller, route: Route, isThere: boolean): Promise<{ status: number; body: any }> {
  const properties = Object.entries(route.body?.properties ?? {}).filter(([field]) => !field.endsWith('as_user_id'));
  const body = route.body === null ? undefined : goodBody(world, route.name, Object.fromEntries(properties));
  const token = route.path.startsWith('/v3') ? caller.v3 : caller.v1;
  const target = targetOf(route, isThere);
  const { status, body: answer } = await call(world.test, token, route.method, target, body);
  const { instance: _, ...problem } = answer ?? {};
  return { status, body: status < 400 ? null : problem };
}

describe('a missing permission is reported whether or not the resource exists', () => {
  test('there are routes to test', () => expect(withIds.length).toBeGreaterThan(80));

  test.each(withIds)('%s', async (name) => {
    const route = routes.get(name) as Route;
    for (const caller of callers) {
      const [there, missing] = [await send(caller, route, true), await send(caller, route, false)];
      const mayAct = there.status < 400 || ![403, 404].includes(there.status);
      expect({ caller: caller.name, ...missing }, JSON.stringify(there)).toEqual(
        mayAct
          ? { caller: caller.name, status: 404, body: expect.anything() }
          : { caller: caller.name, status: 403, body: there.body },
      );
      if (!mayAct) expect({ caller: caller.name, status: there.status }).toEqual({ caller: caller.name, status: 403 });
    }
  });
});
