import { graphql, type TestApp } from './app.ts';

/** The selection of each mutation's payload. */
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

/** Returns the document of a mutation; its input is the variable `input`. */
export const mutationDocument = (field: string, selection: string): string =>
  `mutation($input: ${field[0]?.toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { ${selection} } }`;

/** A mutation of the schema. */
export type MutationName = keyof typeof selections;

/** Runs a mutation; `payload` is null if the result was an error. */
export async function mutate(
  test: Pick<TestApp, 'url'>,
  token: string,
  name: MutationName,
  input: Record<string, unknown>,
  headers: Record<string, string> = {},
): Promise<{ payload: any; errors: any[] | undefined }> {
  const document = mutationDocument(name, `${selections[name]} userErrors { code message path } clientMutationId`);
  const { data, errors } = await graphql(test, token, document, { input }, headers);
  return { payload: data?.[name] ?? null, errors };
}
