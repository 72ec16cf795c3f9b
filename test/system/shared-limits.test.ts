import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { makeKey } from '../support/principals.ts';
import { testDatabase } from '../support/test-store.ts';

// PGlite always runs in one process.
describe.skipIf(testDatabase === 'pglite')('two processes on one PostgreSQL', () => {
  let first: TestApp;
  let second: TestApp;
  let clock: Clock;
  const limits = { rateLimitRest: 100, rateLimitGraphql: 1_000, rateLimitLogin: 10 };
  beforeAll(async () => {
    first = await startApp(limits);
    second = await first.another(limits);
    clock = stopClock(first, second);
  });
  afterEach(() => clock.advance(60_000));
  afterAll(async () => {
    await second.close();
    await first.close();
  });

  const newKey = () => makeKey(first, { kind: 'SERVICE', organizationId: first.organizationId });
  const ask = async (of: TestApp, token: string) => (await call(of, token, 'GET', '/v1/sessions')).status;
  const count = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;

  /** Counts writes to the shared amounts, or runs `listener` instead. */
  function onSpend(of: TestApp, listener: () => void): void {
    const { store } = of.app.services;
    const original = store.execute;
    store.execute = async (sql: string, values?: readonly unknown[]) => {
      if (/insert into "rate_limit"/i.test(sql)) listener();
      return original.call(store, sql, values) as never;
    };
    onTestFinished(() => {
      store.execute = original;
    });
  }

  it('together allow the limit, no more and no less, when both count', async () => {
    const key = await newKey();
    let statements = 0;
    for (const each of [first, second]) onSpend(each, () => statements++);
    const statuses = await Promise.all(Array.from({ length: 160 }, (_, n) => ask(n % 2 === 0 ? first : second, key)));
    expect({ allowed: count(statuses, 200), refused: count(statuses, 429) }).toEqual({ allowed: 100, refused: 60 });
    // Each statement reserves a twentieth of the limit, and each process needs one more to learn that nothing is left.
    expect(statements).toBeLessThanOrEqual(22);
    expect(statements).toBeGreaterThanOrEqual(20);
  });

  it('spend a reserved amount without another statement', async () => {
    const key = await newKey();
    let statements = 0;
    onSpend(first, () => statements++);
    for (let n = 0; n < 5; n++) await ask(first, key);
    expect(statements).toBe(1);
    const { headers } = await call(first, key, 'GET', '/v1/sessions');
    expect(headers.get('ratelimit-remaining')).toBe('94');
    expect(statements).toBe(2);
  });

  it('share the points of operations, including expensive ones', async () => {
    const key = await newKey();
    const query = '{ organizations(first: 90) { nodes { name } } rateLimit { remaining } }';
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => graphql(n % 2 === 0 ? first : second, key, query)),
    );
    const allowed = count(
      answers.map(({ status }) => status),
      200,
    );
    expect(allowed * 90).toBeLessThanOrEqual(1_000);
    // The other process cannot use points that one process reserved and does not spend: less than one request each.
    expect(allowed).toBeGreaterThanOrEqual(9);
  });

  it('share the failed attempts of an address', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 14; n++) statuses.push(await ask(n % 2 === 0 ? first : second, 'apk_nobody'));
    expect({ slowed: count(statuses, 429), refused: count(statuses, 401) }).toEqual({ slowed: 4, refused: 10 });
  });

  it('keep serving, each with its own count, when the shared amounts cannot be read', async () => {
    const key = await newKey();
    const warnings: string[] = [];
    const { log } = first.app.services;
    const { warn } = log;
    log.warn = (_fields, message) => warnings.push(message);
    onTestFinished(() => {
      log.warn = warn;
    });
    onSpend(first, () => {
      throw new Error('The database is not there.');
    });
    const statuses = await Promise.all(Array.from({ length: 120 }, () => ask(first, key)));
    expect({ allowed: count(statuses, 200), refused: count(statuses, 429) }).toEqual({ allowed: 100, refused: 20 });
    expect(warnings).toEqual(['The shared rate limit store isn’t responding: this process counts alone.']);
  });

  it('delete expired amounts', async () => {
    const { store } = first.app.services;
    await store.execute("insert into rate_limit (key, points, expire) values ('old', 1, 1000)");
    // Another process, because the others have just cleaned up.
    const third = await first.another(limits);
    try {
      await ask(third, await newKey());
      await expect
        .poll(async () => store.query("select key from rate_limit where key = 'old'"), { interval: 20 })
        .toEqual([]);
    } finally {
      await third.close();
    }
  });
});
