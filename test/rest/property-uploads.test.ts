import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { anyText, roughTexts } from '../support/arbitraries.ts';
import { factor, seed } from '../support/property-runs.ts';
import { countRows } from '../support/rows.ts';
import { linkOf, multipart, type Part, readStoredFiles, sendParts } from '../support/uploads.ts';
import { useApp } from '../support/use-app.ts';
import { inTime } from './property-answers.ts';

/** The maximum size of a file in bytes. */
const maxBytes = 4_096;

const app = useApp({ maxAttachmentBytes: maxBytes });
let path: string;
beforeAll(async () => {
  path = `/v3/organizations/${app.organizationId}/attachments`;
});

const hold = (property: fc.IAsyncProperty<[any]>, numRuns: number) =>
  fc.assert(property, { seed, numRuns: numRuns * factor });
const disposition = (field: string, name: string | null) =>
  `name="${field}"${name === null ? '' : `; filename="${name.replaceAll('\\', '\\\\').replaceAll('"', '%22')}"`}`;
const file = (name: string, content: string | Uint8Array): Part => ({
  disposition: disposition('file', name),
  content,
});

/** A refusal has version 3's form, and stores nothing. */
async function refused(body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<number | null> {
  const before = { files: await readStoredFiles(app), rows: await countRows(app) };
  const answer = await inTime(
    { body: Buffer.from(body).toString('latin1'), headers },
    sendParts(app, app.adminToken, path, body, headers),
  );
  if (answer.status < 300) return null;
  expect(answer).toMatchObject({ body: { status: answer.status, type: 'about:blank' } });
  expect([400, 413, 422]).toContain(answer.status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  if (answer.status === 422) expect(answer.body.detail[0].loc).toEqual(['body', 'file']);
  expect({ files: await readStoredFiles(app), rows: await countRows(app) }).toEqual(before);
  return answer.status;
}

const traversals = [
  '../',
  '..\\',
  '/',
  'C:\\',
  '%2e%2e%2f',
  '..%5c',
  './',
  '~/',
  '\u202e',
  '\u0000',
  'a/',
  '?',
  '#',
  ';',
  '%',
];
const endings = [
  'passwd',
  '.txt',
  '..',
  '.',
  '',
  'x'.repeat(300),
  `${'😀'.repeat(200)}.tar`,
  'con',
  '__proto__',
  'a.html',
];
const pathTrick = fc.tuple(fc.array(fc.constantFrom(...traversals), { maxLength: 6 }), fc.constantFrom(...endings));
const fileName = fc
  .oneof(
    pathTrick.map(([traversal, end]) => traversal.join('') + end),
    anyText,
  )
  // A line break would end the header.
  .map((name) => name.replaceAll(/[\r\n]/g, ' ').slice(0, 3_000));

test('a file with any name is stored under an id and returned unchanged', async () => {
  const content = fc.uint8Array({ maxLength: 300 });
  const property = fc.asyncProperty(fc.record({ name: fileName, content }), async ({ name, content: bytes }) => {
    const { status, body } = await sendParts(app, app.adminToken, path, multipart([file(name, bytes)]));
    expect({ status, body }).toMatchObject({ status: 200 });
    expect(body.name).not.toMatch(/[/\\\p{Cc}\u202a-\u202e\u2066-\u2069]|^\.*$/u);
    expect([...body.name].length).toBeLessThanOrEqual(255);
    const response = await fetch(await linkOf(app.adminToken, body.url));
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
  });
  await hold(property, 80);
  expect((await readStoredFiles(app)).filter((storedPath) => !/^attachments\/[0-9a-f]{32}$/.test(storedPath))).toEqual(
    [],
  );
});

test('a file above the maximum size is refused, by any number of bytes', async () => {
  const size = fc.oneof(fc.constantFrom(maxBytes + 1, maxBytes * 2), fc.integer({ min: maxBytes + 1, max: 300_000 }));
  const property = fc.asyncProperty(size, async (bytes) => {
    expect(await refused(multipart([file('a.bin', Buffer.alloc(bytes))]))).toBe(413);
  });
  await hold(property, 20);
});

test('an incomplete body is refused, wherever it ends', async () => {
  const whole = multipart([{ disposition: disposition('note', null), content: 'x' }, file('a.txt', 'x'.repeat(2_000))]);
  // Data after the two hyphens of the last boundary is optional.
  const cut = fc.oneof(
    fc.nat({ max: whole.length - 5 }),
    fc.integer({ min: whole.length - 60, max: whole.length - 5 }),
  );
  const property = fc.asyncProperty(cut, async (length) => {
    expect(await refused(whole.slice(0, length))).not.toBeNull();
  });
  await hold(property, 60);
});

test('one file in the right field is accepted, and nothing else is', async () => {
  const field = fc.constantFrom('file', 'file', 'upload', 'File', 'file[]', '', '__proto__', 'constructor');
  const part = fc.record({
    field,
    name: fc.oneof(
      fc.constant(null),
      fc.constantFrom('a.txt', '', ...roughTexts.filter((text) => !/[\r\n]/.test(text))),
    ),
    size: fc.constantFrom(0, 1, 100, maxBytes, maxBytes + 1),
  });
  const property = fc.asyncProperty(fc.array(part, { maxLength: 4 }), async (parts) => {
    const body = multipart(
      parts.map(({ field: name, name: fileName, size }) => ({
        disposition: disposition(name, fileName),
        content: Buffer.alloc(size, 0x78),
      })),
    );
    const files = parts.filter(({ name }) => name !== null);
    const texts = parts.filter(({ name }) => name === null);
    const isGood =
      files.length === 1 &&
      files.every(({ field: name, size }) => name === 'file' && size <= maxBytes) &&
      texts.every(({ field: name }) => name !== 'file');
    expect((await refused(body)) === null).toBe(isGood);
  });
  await hold(property, 80);
});

test('a text in the field before the file is refused without an endless wait', async () => {
  const text = { disposition: disposition('file', null), content: '' };
  expect(await refused(multipart([text, file('a.txt', 'hello')]))).toBe(422);
  expect(await refused(multipart([text, file('a.txt', 'x'.repeat(maxBytes + 1))]))).toBe(422);
});

test('changed bytes are refused or result in another file, without a failure', async () => {
  const whole = multipart([file('a.txt', 'hello')]);
  const change = fc.record({ at: fc.nat({ max: whole.length - 1 }), to: fc.integer({ min: 0, max: 255 }) });
  const types = [
    'multipart/form-data',
    'multipart/mixed; boundary=x',
    'multipart/form-data; boundary=',
    'text/plain',
    '',
  ];
  const request = fc.record({
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    type: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom(...types)),
  });
  const property = fc.asyncProperty(request, async ({ changes, type }) => {
    const body = whole.slice();
    for (const { at, to } of changes) body[at] = to;
    await refused(body, type === null ? {} : { 'content-type': type });
  });
  await hold(property, 80);
});
