import { authenticate } from '../../src/auth/authenticate.ts';
import type { Permission } from '../../src/auth/permissions.ts';
import type { Context } from '../../src/domain/context.ts';
import { createApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { createServiceUser } from '../../src/domain/identity/people/service-users.ts';
import { createUser } from '../../src/domain/identity/people/users.ts';
import { call, type TestApp } from '../support/app.ts';

export { call, startApp, type TestApp } from '../support/app.ts';

/** Sends raw bytes: for bodies that are not JSON, not UTF-8, or too long. */
export async function sendRaw(
  test: Pick<TestApp, 'url'>,
  token: string,
  path: string,
  body: Uint8Array | string | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): ReturnType<typeof call> {
  const init = {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, ...headers },
    body,
    duplex: 'half',
  } as RequestInit;
  const response = await fetch(test.url + path, init);
  return { status: response.status, body: JSON.parse(await response.text()), headers: response.headers };
}

/** The administrator, as the domain sees it. */
export async function asAdministrator(test: TestApp): Promise<Context> {
  const { services } = test.app;
  return { ...services, viewer: await authenticate(services, test.adminToken, null), address: null };
}

/** Creates an organization; returns its unprefixed id. */
export async function makeOrganization(test: TestApp, name: string = 'Another'): Promise<string> {
  const { body } = await call(test, test.adminToken, 'POST', '/v3/enterprise/organizations', { name });
  return body.org_id.replace('org-', '');
}

let count = 0;

/** Creates a user of an organization, with a v1 key and a v3 token. */
export async function makeUser(
  test: TestApp,
  organizationId: string,
  roleId: 'org_member' | 'org_admin' = 'org_member',
): Promise<{ userId: string; email: string; v1Key: string; v3Token: string }> {
  const context = await asAdministrator(test);
  count += 1;
  const email = `person${count}@example.com`;
  const { id: userId } = await createUser(context, { email, name: `Person ${count}`, organizationId, roleId });
  const v1 = await createApiKey(context, { kind: 'PERSONAL', name: 'v1', organizationId, userId });
  const v3 = await createApiKey(context, { kind: 'PERSONAL_ACCESS_TOKEN', name: 'v3', userId });
  return { userId, email, v1Key: v1.token, v3Token: v3.token };
}

/** Creates a service user and returns its `cog_` token; without an organization, a service user of the enterprise. */
export async function makeServiceUser(
  test: TestApp,
  input: { organizationId?: string; roleId: string },
): Promise<{ serviceUserId: string; token: string }> {
  const context = await asAdministrator(test);
  const { id: serviceUserId } = await createServiceUser(context, { name: 'Robot', organizationId: null, ...input });
  const { token } = await createApiKey(context, { kind: 'SERVICE_USER', name: 'robot', serviceUserId });
  return { serviceUserId, token };
}

/** The token of a new service user of the enterprise whose custom role has exactly these permissions. */
export async function makeManager(test: TestApp, ...permissions: readonly Permission[]): Promise<string> {
  const name = `Manager ${Math.random()}`;
  const role = await createRole(await asAdministrator(test), { name, scope: 'enterprise', permissions });
  return (await makeServiceUser(test, { roleId: role.id })).token;
}

/** A new v1 service key of an organization. */
export async function makeServiceKey(test: TestApp, organizationId: string): Promise<string> {
  const key = await createApiKey(await asAdministrator(test), {
    kind: 'SERVICE',
    name: 'service',
    organizationId,
    roleId: 'org_admin',
  });
  return key.token;
}

/** The number of sessions in all organizations, to show that a refusal created none. */
export async function countSessions(test: TestApp): Promise<number> {
  const [row] = await test.app.services.store.query<{ n: number }>('select count(*)::int as n from session');
  return row?.n ?? 0;
}
