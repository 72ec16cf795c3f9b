import { parseId } from '../../src/domain/ids.ts';
import { call, type TestApp } from './app.ts';
import { createAutomation, makeAutomatic } from './automations.ts';

/** Returns a trigger for incoming webhooks, with an optional condition. */
export const incoming = (conditions?: object) => ({
  incomingWebhook: conditions === undefined ? {} : { conditions: { any: [{ all: [conditions] }] } },
});

/** An automation with a webhook, and functions that call it. */
export async function makeWebhook(test: TestApp, input: Record<string, unknown> = {}) {
  const { token, organizationId } = await makeAutomatic(test);
  const { automation, webhookSecret } = await createAutomation(test, { triggers: [incoming()], ...input }, token);
  const path = new URL(automation.triggers[0].webhookUrl).pathname;
  const { automationId } = automation;
  const send = (body: unknown, headers: Record<string, string> = {}, as: string | null = webhookSecret) =>
    postTo(test, path, typeof body === 'string' ? body : JSON.stringify(body), {
      ...(as === null ? {} : { 'x-webhook-secret': as }),
      ...headers,
    });
  const runs = async () =>
    (await call(test, token, 'GET', `/v3/organizations/${organizationId}/automations/${automationId}/runs`)).body.items;
  return { token, organizationId, automationId, secret: webhookSecret as string, path, send, runs };
}

/** The response of a webhook: an accepted delivery, or a problem. */
interface WebhookAnswer {
  readonly run_id?: string | null;
  readonly status: string | number;
  readonly is_replay?: boolean;
  readonly title?: string;
  readonly detail?: string;
  readonly instance?: string;
}

/** Posts to a webhook's path. */
export async function postTo(
  test: Pick<TestApp, 'url'>,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
) {
  const response = await fetch(test.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as WebhookAnswer };
}

/** Returns the prompt of a session by its id in any form. */
export const promptOf = async (test: TestApp, sessionId: string) => {
  const [row] = await test.app.services.store.query<{ prompt: string }>('select prompt from session where id = $1', [
    parseId('session', sessionId),
  ]);
  return row?.prompt;
};
