import { expect, test } from 'vitest';
import { jsonReply } from '../../src/http/reply.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { validateAgainstOpenApi } from '../support/openapi-validation.ts';
import { viewOf } from '../support/request-views.ts';
import { useApp } from '../support/use-app.ts';

// Every test app validates its responses against the OpenAPI documents when it closes; this file tests that validation.

const app = useApp();

type Answer = { status: number; body: any };

async function validateWith(change: (answer: Answer) => Answer, init: RequestInit = {}): Promise<unknown> {
  const server = app.app;
  const changing = {
    async respond(request: RequestView) {
      const reply = await server.respond(request);
      if (request.path.startsWith('/openapi')) return reply;
      const { status, body } = change({ status: reply.status, body: JSON.parse(String(reply.body)) });
      return jsonReply(status, body);
    },
  };
  const validation = validateAgainstOpenApi(changing);
  const length = String(init.body?.toString().length ?? 0);
  const authorization = `Bearer ${app.adminToken}`;
  const headers = { authorization, 'content-type': 'application/json', 'content-length': length };
  const request = new Request(`${app.url}/v3/organizations/${app.organizationId}/knowledge/notes`, {
    headers,
    ...init,
  });
  await changing.respond(viewOf(request, null));
  return validation.requireNone().then(
    () => null,
    (error: Error) => error.message,
  );
}

test('accepts an unchanged response', async () => {
  expect(await validateWith((answer) => answer)).toBe(null);
});

test('reports an undescribed property, a missing one, one of another type, and a status', async () => {
  const note = { note_id: 'note-1' };
  expect(await validateWith(({ body }) => ({ status: 200, body: { ...body, more: 1 } }))).toContain('"more"');
  expect(await validateWith(({ body: { items } }) => ({ status: 200, body: { items } }))).toContain('"has_next_page"');
  expect(await validateWith(({ body }) => ({ status: 200, body: { ...body, total: 'all' } }))).toContain(
    '/total must be',
  );
  expect(await validateWith(({ body }) => ({ status: 200, body: { ...body, items: [note] } }))).toContain(
    '/items/0 must',
  );
  expect(await validateWith(({ body }) => ({ status: 418, body }))).toContain('status 418 is not described');
});

test('reports a request that is accepted although the document does not allow it', async () => {
  const taken = await validateWith(() => ({ status: 200, body: {} }), { method: 'POST', body: '{"name":5}' });
  expect(taken).toContain('was taken: /name must be string');
});
