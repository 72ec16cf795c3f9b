import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { authenticate } from '../../src/auth/authenticate.ts';
import { prepareInstallation } from '../../src/domain/bootstrap.ts';
import type { Context, Services } from '../../src/domain/context.ts';
import { createApiKey } from '../../src/domain/keys/api-keys.ts';
import { createServiceUser, createUser } from '../../src/domain/keys/users.ts';
import { createBell } from '../../src/events/create-bell.ts';
import { createRest } from '../../src/rest/router.ts';
import { createKeyring } from '../../src/store/cipher.ts';
import { openTestStore } from '../support/test-store.ts';

export interface TestApp {
  readonly app: { readonly services: Services };
  readonly url: string;
  readonly adminToken: string;
  readonly v1Key: string;
  readonly organizationId: string;
  close(): Promise<void>;
}

export async function startApp(): Promise<TestApp> {
  const test = await openTestStore();
  const show = (fields: object, message: string) => console.error(message, fields);
  const log = { debug: () => undefined, info: () => undefined, warn: show, error: show };
  const bell = createBell({ databaseUrl: null, execute: (sql, values) => test.store.execute(sql, values), log });
  const services = {
    store: test.store,
    bell,
    keyring: createKeyring({ secretKey: 'a secret key that is only for the tests', previousSecretKey: null }),
    log,
    now: () => new Date(),
    baseUrl: 'http://switchyard.test',
    agentProfiles: new Map(),
    defaultAgent: 'demo',
  } satisfies Services;
  const { firstStart } = await prepareInstallation(services, {
    bootstrapToken: null,
    isKeyGenerated: false,
    isShared: false,
  });
  if (!firstStart) throw new Error('The database of a test was not new.');
  const rest = createRest(services);
  const server = createAdaptorServer({ fetch: (request: Request) => rest.fetch(request, { address: null }) }) as Server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    app: { services },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...firstStart,
    async close() {
      server.closeAllConnections();
      server.close();
      await test.close();
    },
  };
}

export async function call(
  test: Pick<TestApp, 'url'>,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: any; headers: Headers }> {
  const response = await fetch(test.url + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers };
}

/** Sends bytes as they are: for bodies that are no JSON, no UTF-8, or too long. */
export async function sendRaw(
  test: Pick<TestApp, 'url'>,
  token: string,
  path: string,
  body: Uint8Array | string | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: any; headers: Headers }> {
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
  return { ...services, viewer: await authenticate(services, test.adminToken), address: null };
}

/** A new organization; its bare id. */
export async function makeOrganization(test: TestApp, name: string = 'Another'): Promise<string> {
  const { body } = await call(test, test.adminToken, 'POST', '/v3/enterprise/organizations', { name });
  return body.org_id.replace('org-', '');
}

let count = 0;

/** A new user of an organization, with a v1 key and a v3 token of its own. */
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

/** A new service user's `cog_` token; without an organization it is one of the enterprise. */
export async function makeServiceUser(
  test: TestApp,
  place: { organizationId?: string; roleId: string },
): Promise<{ serviceUserId: string; token: string }> {
  const context = await asAdministrator(test);
  const { id: serviceUserId } = await createServiceUser(context, { name: 'Robot', ...place });
  const { token } = await createApiKey(context, { kind: 'SERVICE_USER', name: 'robot', serviceUserId });
  return { serviceUserId, token };
}

/** A new v1 service key of an organization. */
export async function makeServiceKey(test: TestApp, organizationId: string): Promise<string> {
  const key = await createApiKey(await asAdministrator(test), { kind: 'SERVICE', name: 'service', organizationId });
  return key.token;
}

/** How many sessions there are, in all organizations: to show that a refusal wrote none. */
export async function countSessions(test: TestApp): Promise<number> {
  const [row] = await test.app.services.store.query<{ n: number }>('select count(*)::int as n from session');
  return row?.n ?? 0;
}
