import { parseId } from '../../src/domain/ids.ts';
import { appendEntries, type NewEntry } from '../../src/domain/sessions/log.ts';
import { graphql, type TestApp } from './app.ts';
import { mutationDocument } from './mutations.ts';
import { keyInput, organizationOfToken, recordOrganization } from './principals.ts';

/** Starts a session over GraphQL and returns its unprefixed id. */
export async function createSession(
  test: TestApp,
  input: Record<string, unknown> = {},
  token = test.adminToken,
): Promise<string> {
  const { data, errors } = await graphql(
    test,
    token,
    'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } userErrors { message } } }',
    {
      input: {
        prompt: 'say hello',
        organizationId: token === test.adminToken ? test.organizationId : organizationOfToken(token),
        ...input,
      },
    },
  );
  const id = parseId('session', data?.createSession?.session?.sessionId ?? '');
  if (id === null) throw new Error(`No session was made: ${JSON.stringify({ data, errors })}`);
  return id;
}

/** Returns the REST id of the first organization that a key may use; in a new service, the initial one. */
export async function firstOrganizationId(target: Pick<TestApp, 'url'>, token: string): Promise<string> {
  const { data } = await graphql(target, token, '{ organizations(first: 1) { nodes { organizationId } } }');
  return data.organizations.nodes[0].organizationId;
}

/** Starts a session in the first organization that a key may use, and returns its REST id. */
export async function createFirstSession(
  target: Pick<TestApp, 'url'>,
  token: string,
  prompt: string,
  more: { readonly agent?: string } = {},
): Promise<string> {
  const organizationId = await firstOrganizationId(target, token);
  const document = mutationDocument('createSession', 'session { sessionId } userErrors { message }');
  const { data, errors } = await graphql(target, token, document, { input: { organizationId, prompt, ...more } });
  const id = data?.createSession?.session?.sessionId;
  if (!id) throw new Error(`No session was made: ${JSON.stringify({ data, errors })}`);
  return id;
}

/** Writes agent messages into a session's log and notifies, like a worker. */
export async function say(test: TestApp, sessionId: string, ...messages: string[]): Promise<void> {
  const entries = messages.map((body): NewEntry => ({ kind: 'MESSAGE', messageType: 'agent_message', body }));
  await appendToLog(test, sessionId, ...entries);
}

/** The log entry of a completed tool call, the one with this number; `more` replaces members of its data. */
export const toolCall = (n: number, more: object = {}): NewEntry => ({
  kind: 'TOOL_CALL',
  data: {
    ...{ toolCallId: `call-${n}`, title: `npm run step-${n}`, toolKind: 'execute', status: 'completed' },
    ...{ output: `output ${n}`, locations: [], diffs: [] },
    ...more,
  },
});

/** Writes entries into a session's log and notifies, like a worker. */
export async function appendToLog(test: TestApp, sessionId: string, ...entries: NewEntry[]): Promise<void> {
  const { store, notifier, now } = test.app.services;
  await appendEntries(store, sessionId, null, entries, now());
  notifier.notify(`session:${sessionId}`);
}

/** Creates an organization with the token of a service user that is org_admin there. */
export async function makeOrganization(
  test: TestApp,
  name: string,
): Promise<{ organizationId: string; token: string; serviceUserId: string }> {
  const run = async (query: string, input: Record<string, unknown>) => {
    const { data, errors } = await graphql(test, test.adminToken, query, { input });
    const payload = Object.values(data ?? {})[0] as any;
    if (!payload || payload.userErrors.length > 0) throw new Error(JSON.stringify({ data, errors }));
    return payload;
  };
  const made = await run(
    'mutation($input: CreateOrganizationInput!) { createOrganization(input: $input) { organization { organizationId } userErrors { message } } }',
    { name },
  );
  const { organizationId } = made.organization;
  const user = await run(
    'mutation($input: CreateServiceUserInput!) { createServiceUser(input: $input) { serviceUser { serviceUserId } userErrors { message } } }',
    { name: `${name} bot`, scope: { organizationId }, roleId: 'org_admin' },
  );
  const { serviceUserId } = user.serviceUser;
  const key = await run(
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { token userErrors { message } } }',
    keyInput({ kind: 'SERVICE_USER', serviceUserId }),
  );
  recordOrganization(key.token, organizationId);
  return { organizationId, token: key.token, serviceUserId };
}
