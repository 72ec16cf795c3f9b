import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const audits = serverAudits({
  url: () => `${test.url}/graphql`,
  fetchFn: (input: string, init: RequestInit = {}) =>
    fetch(input, { ...init, headers: { ...(init.headers as object), authorization: `Bearer ${test.adminToken}` } }),
});

it('runs all 61 audits', () => {
  expect(audits).toHaveLength(61);
});

it.each(audits.map((audit) => ({ id: audit.id, name: audit.name, audit })))('$id $name', async ({ audit }) => {
  const result = await audit.fn();
  expect(result.status, 'reason' in result ? result.reason : '').toBe('ok');
});
