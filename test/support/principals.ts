import { graphql, type TestApp } from './app.ts';
import { mutationDocument } from './mutations.ts';

async function run(test: TestApp, field: string, made: string, input: Record<string, unknown>): Promise<any> {
  const document = mutationDocument(field, `${made} userErrors { message }`);
  const { data, errors } = await graphql(test, test.adminToken, document, { input });
  const payload = data?.[field];
  if (!payload || payload.userErrors.length > 0) throw new Error(JSON.stringify({ data, errors }));
  return payload;
}

/** Returns a scope as inputs have it; null: the enterprise. */
export const scopeOf = (organizationId: unknown) =>
  organizationId === null ? { enterprise: true } : { organizationId };

/** Returns the input of `createApiKey` from a flat list of members. A SERVICE key is an org_admin. */
export function keyInput({ kind, ...input }: Record<string, unknown>): Record<string, unknown> {
  const { organizationId, userId, serviceUserId, roleId = 'org_admin', ...rest } = input;
  const kinds: Record<string, object> = {
    PERSONAL: { personal: { userId, organizationId } },
    PERSONAL_ACCESS_TOKEN: { personalAccessToken: { userId } },
    SERVICE: { service: { scope: scopeOf(organizationId), roleId } },
    SERVICE_USER: { serviceUser: { serviceUserId } },
  };
  return { name: 'key', ...rest, kind: kinds[String(kind)] };
}

/** Returns the input of `assignRole` and `unassignRole` from a flat list of members; without an organization: on the enterprise. */
export function roleInput({ userId, serviceUserId, organizationId = null, ...rest }: Record<string, unknown>) {
  const principal = userId === undefined ? { serviceUserId } : { userId };
  return { ...rest, principal, scope: scopeOf(organizationId) };
}

/** Creates a key as the administrator from a {@link keyInput}, and returns its token. */
export async function makeKey(test: TestApp, input: Record<string, unknown>): Promise<string> {
  return (await run(test, 'createApiKey', 'token', keyInput(input))).token;
}

let users = 0;

const organizations = new Map<string, string>();

/** Records the organization of a token's owner. */
export const recordOrganization = (token: string, organizationId: string) => organizations.set(token, organizationId);

/** Returns the organization of a test user or service user by its token, for inputs that must name one. */
export const organizationOfToken = (token: string): string | undefined => organizations.get(token);

/** Returns {@link organizationOfToken} as a scope. */
export const homeScope = (token: string) => scopeOf(organizationOfToken(token));

/**
 * Creates a user with a personal access token; by default an org_member of the first organization. `organizationId` null:
 * with a role on the enterprise.
 */
export async function makeUser(
  test: TestApp,
  input: Record<string, unknown> = {},
): Promise<{ userId: string; email: string; token: string }> {
  users += 1;
  const email = `user${users}@example.test`;
  const { organizationId = test.organizationId, ...rest } = input;
  const scope = scopeOf(organizationId);
  const wanted = { email, roleId: 'org_member', scope, ...rest };
  const { user } = await run(test, 'createUser', 'user { userId }', wanted);
  const token = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId: user.userId });
  if (organizationId !== null) recordOrganization(token, String(organizationId));
  return { userId: user.userId, email, token };
}

/** Returns the Relay global id of an unprefixed id (docs/wire/ids.md#reading). */
export const globalIdOf = (type: string, id: string) => Buffer.from(`${type}:${id}`).toString('base64');

/** Returns an unused id that is close to a used one. */
export const otherId = (id: string) => id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
