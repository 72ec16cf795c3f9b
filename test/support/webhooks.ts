import { graphql, type TestApp } from './app.ts';
import { runMutation } from './people.ts';

/** The selection of an endpoint. */
export const endpointFields =
  'webhookEndpoint { id webhookEndpointId url description eventTypes isEnabled disabledReason consecutiveFailures }';

/** Creates an endpoint; returns it with its secret. */
export async function makeEndpoint(
  test: TestApp,
  token: string,
  input: Record<string, unknown>,
): Promise<{ id: string; secret: string; webhookEndpointId: string }> {
  const made = await runMutation(test, 'createWebhookEndpoint', `${endpointFields} secret`, input, token);
  if (!made.webhookEndpoint) throw new Error(JSON.stringify(made));
  return { ...made.webhookEndpoint, secret: made.secret };
}

/** Returns an endpoint with its deliveries, newest first. */
export async function readEndpoint(test: TestApp, token: string, id: string): Promise<any> {
  const document = `query($id: ID!) { node(id: $id) { ... on WebhookEndpoint {
    url isEnabled disabledReason consecutiveFailures failingSince
    deliveries(first: 100) { totalCount nodes { id webhookDeliveryId messageId eventType status nextAttemptAt finishedAt
      session { sessionId } attempts { startedAt statusCode error answer } } } } } }`;
  const { data, errors } = await graphql(test, token, document, { id });
  if (errors) throw new Error(JSON.stringify(errors));
  return data.node;
}

/** Waits until an endpoint's deliveries match, as the API returns them; returns the endpoint in that state. */
export async function waitForDeliveries(
  test: TestApp,
  token: string,
  id: string,
  isEnough: (endpoint: any) => boolean,
): Promise<any> {
  for (;;) {
    const endpoint = await readEndpoint(test, token, id);
    if (isEnough(endpoint)) return endpoint;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
