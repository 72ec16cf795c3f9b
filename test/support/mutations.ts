import { graphql, type TestApp } from './app.ts';

/** What each mutation's payload is asked for. */
const selections = {
  createSession: `wasReplayed session {
    id sessionId title tags status isArchived isUnlisted origin agent snapshotId maxAcuLimit structuredOutputSchema url
    organization { organizationId } createdBy { __typename ... on User { userId } ... on ServiceUser { serviceUserId } } }`,
  sendMessage: 'session { sessionId status } message { id eventId seq type body author { __typename } }',
  terminateSession: 'session { sessionId status isArchived }',
  createApiKey: 'token apiKey { apiKeyId kind name display expiresAt }',
  createOrganization: 'organization { organizationId name }',
  createUser: 'user { userId email name }',
  createServiceUser: 'serviceUser { serviceUserId name expiresAt }',
} as const;

/** A mutation of the schema. */
export type MutationName = keyof typeof selections;

/** Runs a mutation; `payload` is null when it was an error rather than a payload. */
export async function mutate(
  test: Pick<TestApp, 'url'>,
  token: string,
  name: MutationName,
  input: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<{ payload: any; errors: any[] | undefined }> {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const document = `mutation($input: ${type}!) {
    ${name}(input: $input) { ${selections[name]} userErrors { code message path } clientMutationId } }`;
  const { data, errors } = await graphql(test, token, document, { input }, headers);
  return { payload: data?.[name] ?? null, errors };
}
