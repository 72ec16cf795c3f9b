import { graphql, type TestApp } from './app.ts';

async function run(test: TestApp, field: string, made: string, input: Record<string, unknown>): Promise<any> {
  const inputType = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
  const { data, errors } = await graphql(
    test,
    test.adminToken,
    `mutation($input: ${inputType}!) { ${field}(input: $input) { ${made} userErrors { message } } }`,
    { input },
  );
  const payload = data?.[field];
  if (!payload || payload.userErrors.length > 0) throw new Error(JSON.stringify({ data, errors }));
  return payload;
}

/** Makes a key as the administrator and gives its token. */
export async function makeKey(test: TestApp, input: Record<string, unknown>): Promise<string> {
  return (await run(test, 'createApiKey', 'token', { name: 'key', ...input })).token;
}

let users = 0;

/** A user of its own with a personal access token; by default an org_member of the first organization. */
export async function makeUser(
  test: TestApp,
  input: Record<string, unknown> = {},
): Promise<{ userId: string; email: string; token: string }> {
  users += 1;
  const email = `user${users}@example.test`;
  const { user } = await run(test, 'createUser', 'user { userId }', {
    email,
    organizationId: test.organizationId,
    ...input,
  });
  const token = await makeKey(test, { kind: 'PERSONAL_ACCESS_TOKEN', userId: user.userId });
  return { userId: user.userId, email, token };
}

/** The Relay global id of a bare id, as the contract writes it. */
export const globalIdOf = (type: string, id: string) => Buffer.from(`${type}:${id}`).toString('base64');

/** An id that nothing has, next to one that something has. */
export const otherId = (id: string) => id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
