import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { seed } from '../support/property-runs.ts';
import { useApp } from '../support/use-app.ts';
import { exchange } from './property-connection.ts';
import { call, makeServiceKey, makeUser } from './rest-app.ts';

/** The one path that revokes all keys (docs/wire/v2.md#revoke-all-keys); no similar path may. */
const everyKey = '/v2/enterprise/api-keys/';

const app = useApp();
beforeAll(async () => {
  await makeUser(app, app.organizationId);
  await makeServiceKey(app, app.organizationId);
});

const countLive = async () => {
  const [row] = await app.app.services.store.query<{ n: number }>(
    'select count(*)::int as n from api_key where revoked_at is null',
  );
  return row?.n ?? 0;
};

const percent = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`;
const inserted = [
  '/',
  '//',
  '.',
  './',
  '../',
  'x/../',
  '%2e/',
  '%2f',
  '%5c',
  '\\',
  '%00',
  '%09',
  '%20',
  '\t',
  ';',
  '#',
  '%',
  '?',
  '%3f',
  '*',
  '0',
  'x',
];
const edit = fc.record({
  at: fc.nat({ max: everyKey.length }),
  how: fc.oneof(
    fc.constantFrom('drop', 'percent', 'upper', 'twice').map((word) => ({ word, text: '' })),
    fc.constantFrom(...inserted).map((text) => ({ word: 'insert', text })),
  ),
});

function edited(
  path: string,
  { at, how: { word, text } }: { at: number; how: { word: string; text: string } },
): string {
  const index = at % (path.length + 1);
  const [before, letter, after] = [path.slice(0, index), path.slice(index, index + 1), path.slice(index + 1)];
  const others: Record<string, string> = {
    drop: '',
    percent: letter === '' ? '' : percent(letter),
    upper: letter.toUpperCase(),
    twice: letter + letter,
  };
  return before + (word === 'insert' ? text + letter : others[word]) + after;
}

const near = fc
  .oneof(
    fc.array(edit, { minLength: 1, maxLength: 3 }).map((edits) => edits.reduce(edited, everyKey)),
    fc.constantFrom(...inserted).map((text) => everyKey + text),
  )
  // A query does not change a path.
  .filter((target) => target.split('?')[0] !== everyKey);

test('no path that is similar to that of all keys revokes one; the exact one does', async () => {
  const before = await countLive();
  const send = (method: string, target: string) =>
    exchange(
      app,
      `${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${app.v1Key}\r\n\r\n`,
    );
  const property = fc.asyncProperty(near, async (target) => {
    const answer = await send('DELETE', target);
    expect(answer).toMatch(target.startsWith('/?') ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 40[045] /);
    expect(await countLive()).toBe(before);
  });
  await fc.assert(property, { seed, numRuns: 400 });
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'HEAD']) {
    expect(await send(method, everyKey)).toMatch(/^HTTP\/1\.1 405 /);
    expect(await countLive()).toBe(before);
  }
  expect((await call(app, app.v1Key, 'DELETE', everyKey)).status).toBe(200);
  expect(await countLive()).toBeLessThan(before);
});
