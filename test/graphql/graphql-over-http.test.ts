import { serverAudits } from 'graphql-http';
import { expect, it } from 'vitest';
import { useApp } from '../support/use-app.ts';

const test = useApp();

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
