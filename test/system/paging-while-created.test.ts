import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { makeManySessions } from '../support/many-sessions.ts';
import { makeKey } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';

const count = 2_500;
let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

/** Creates an organization with 2,500 sessions, many with the same millisecond; created `agoMs` ago, one every 2 ms in groups of 3. */
async function organizationWithMany(agoMs: number) {
  const { organizationId, token } = await makeOrganization(test, 'Many');
  const key = await makeKey(test, { kind: 'SERVICE', organizationId });
  const ids = await makeManySessions(test, organizationId, count, agoMs);
  return { organizationId, token, key, ids: new Set(ids) };
}

/** Starts sessions in sequence for as long as `work` takes. */
async function whileCreating<T>(
  token: string,
  path: string,
  work: () => Promise<T>,
): Promise<{ made: number; result: T }> {
  let isOver = false;
  let made = 0;
  const creating = (async () => {
    while (!isOver) {
      const { status } = await call(test, token, 'POST', path, { prompt: `newer ${made}` });
      if (status !== 200) throw new Error(`A session was not made: ${status}`);
      made += 1;
    }
  })();
  let result: T;
  try {
    result = await work();
  } finally {
    isOver = true;
    await creating;
  }
  return { made, result };
}

/** Returns the sessions of v1 from these offsets on, as unprefixed ids. */
async function readPage(key: string, offset: number, limit: number): Promise<string[]> {
  const { status, body } = await call(test, key, 'GET', `/v1/sessions?limit=${limit}&offset=${offset}`);
  expect(status).toBe(200);
  return body.sessions.map((session: { session_id: string }) => session.session_id.replace('devin-', ''));
}

it('returns each of 2,500 sessions exactly once by v3 cursor while new ones are created', {
  timeout: 120_000,
}, async () => {
  const { organizationId, token, ids } = await organizationWithMany(60_000);
  const path = `/v3/organizations/${organizationId}/sessions`;
  const { made, result } = await whileCreating(token, path, async () => {
    const seen: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await call(test, token, 'GET', `${path}?first=37${after}`);
      seen.push(...body.items.map((item: { session_id: string }) => item.session_id));
      if (!body.has_next_page) return seen;
      after = `&after=${body.end_cursor}`;
    }
  });
  expect(made).toBeGreaterThan(0);
  expect(new Set(result).size).toBe(result.length);
  expect(result.filter((id) => ids.has(id))).toHaveLength(count);
});

// Created long ago; or so recently that an earlier transaction might still be open.
it.each([
  ['an hour', 3_600_000],
  ['a few seconds', 5_000],
])(
  'returns all of 2,500 sessions to ten parallel readers by v1 offset, created %s ago, while new ones are created',
  { timeout: 120_000 },
  async (_ago, agoMs) => {
    const { key, ids } = await organizationWithMany(agoMs);
    const { made, result } = await whileCreating(key, '/v1/sessions', async () => {
      const limit = 50;
      const seen = await readPage(key, 0, limit);
      // From the end, so that the pages before those already read have shifted the most.
      const offsets = Array.from({ length: 59 }, (_, n) => (n + 1) * limit).toReversed();
      const readers = Array.from({ length: 10 }, async () => {
        for (let offset = offsets.shift(); offset !== undefined; offset = offsets.shift()) {
          seen.push(...(await readPage(key, offset, limit)));
        }
      });
      await Promise.all(readers);
      return seen;
    });
    expect(made).toBeGreaterThan(0);
    expect([...ids].filter((id) => !result.includes(id))).toEqual([]);
    expect(new Set(result).size).toBe(result.length);
  },
);

it('returns all sessions to two clients with the same key in parallel, while sessions are created', {
  timeout: 120_000,
}, async () => {
  const { key, ids } = await organizationWithMany(5_000);
  const readAll = async (limit: number) => {
    const seen: string[] = [];
    for (let offset = 0; ; offset += limit) {
      const page = await readPage(key, offset, limit);
      seen.push(...page);
      if (page.length < limit) return seen;
    }
  };
  const { made, result } = await whileCreating(key, '/v1/sessions', async () =>
    Promise.all([readAll(97), readAll(150).then(() => readAll(200))]),
  );
  expect(made).toBeGreaterThan(0);
  for (const seen of result) expect([...ids].filter((id) => !seen.includes(id))).toEqual([]);
});

it('shows a new session on the first page, also after paging', { timeout: 240_000 }, async () => {
  const { key } = await organizationWithMany(3_600_000);
  const first = await readPage(key, 0, 100);
  const second = await readPage(key, 100, 100);
  const { body } = await call(test, key, 'POST', '/v1/sessions', { prompt: 'the newest' });
  const made = body.session_id.replace('devin-', '');
  // Paging that started earlier continues without it.
  expect(await readPage(key, 100, 100)).toEqual(second);
  expect(await readPage(key, 0, 100)).toEqual([made, ...first.slice(0, 99)]);
  // New paging starts with it.
  expect(await readPage(key, 100, 100)).toEqual([first.at(-1), ...second.slice(0, 99)]);
});
