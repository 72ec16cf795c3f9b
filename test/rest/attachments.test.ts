import { describe, expect, test } from 'vitest';
import {
  linkOf,
  multipart,
  type Part,
  readStoredFiles,
  sendEndlessly,
  sendParts,
  upload,
  uploadTo,
} from '../support/uploads.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp({ maxAttachmentBytes: 1_048_576 });

const get = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers, redirect: 'manual' });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const uploads = (id = app.organizationId) => `/v3/organizations/org-${id}/attachments`;
const countRows = async () => {
  const [row] = await app.app.services.store.query<{ n: number }>('select count(*)::int as n from attachment');
  return row?.n;
};

describe('POST /v1/attachments', () => {
  test('returns the plain address as text, from which the file can be read', async () => {
    const answer = await upload(app, app.v1Key, '/v1/attachments', { name: 'notes.txt', content: 'trains\n' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.body).toMatch(/^http:\/\/[^/]+\/v1\/attachments\/[0-9a-f]{32}\/notes\.txt$/);
    const followed = await fetch(answer.body, { headers: bearer(app.v1Key) });
    expect(await followed.text()).toBe('trains\n');
  });

  test('returns a JSON string to clients that accept JSON by name', async () => {
    const body = multipart([{ disposition: 'name="file"; filename="a.txt"', content: 'x' }]);
    const plain = await sendParts(app, app.v1Key, '/v1/attachments', body, { accept: '*/*' });
    expect(plain.headers.get('content-type')).toMatch('text/plain');
    const json = await sendParts(app, app.v1Key, '/v1/attachments', body, { accept: 'application/json, */*' });
    expect(json.headers.get('content-type')).toMatch('application/json');
    expect(json.body).toMatch(/\/a\.txt$/);
  });

  test('401 without a key, 422 in the array form without a file', async () => {
    const form = multipart([{ disposition: 'name="other"', content: 'x' }]);
    expect((await sendParts(app, 'apk_user_wrong', '/v1/attachments', form)).status).toBe(401);
    const refused = await sendParts(app, app.v1Key, '/v1/attachments', form);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'file'], type: 'missing' }] } });
  });
});

describe('GET /v1/attachments/{uuid}/{name}', () => {
  test('307 to a link that needs no key', async () => {
    const { body: url } = await upload(app, app.v1Key, '/v1/attachments', { name: 'a.txt', content: 'one' });
    const answer = await get(url, bearer(app.v1Key));
    expect(answer.status).toBe(307);
    const location = answer.headers.get('location') as string;
    expect(location).toMatch(/\/attachments\/[0-9a-f]{32}\/a\.txt\?expires=\d+&signature=[\w-]+$/);
    expect(await (await get(location)).text()).toBe('one');
  });

  test('404 for another organization’s, exactly as for an unknown one, and for another name', async () => {
    const other = await makeOrganization(app);
    const theirs = await uploadTo(app, other, { name: 'a.txt', content: 'theirs' });
    const id = theirs.attachment_id.replace('attachment-', '');
    for (const path of [`${id}/a.txt`, `${'0'.repeat(32)}/a.txt`, 'nonsense/a.txt']) {
      const answer = await call(app, app.v1Key, 'GET', `/v1/attachments/${path}`);
      expect(answer).toMatchObject({ status: 404, body: { detail: 'Attachment not found' } });
    }
    const { body: mine } = await upload(app, app.v1Key, '/v1/attachments', { name: 'a.txt', content: 'mine' });
    expect((await get(mine.replace('a.txt', 'b.txt'), bearer(app.v1Key))).status).toBe(404);
  });
});

describe('v3 uploads', () => {
  test('return id, name and address; every key of the organization can read the address', async () => {
    const body = await uploadTo(app, app.organizationId, { name: 'résumé 1.txt', content: 'résumé' });
    expect(body).toEqual({
      attachment_id: expect.stringMatching(/^attachment-[0-9a-f]{32}$/),
      name: 'résumé 1.txt',
      url: expect.stringMatching(
        `^${app.url}/v3/organizations/org-${app.organizationId}/attachments/[0-9a-f]{32}/r%C3%A9sum%C3%A9%201.txt$`,
      ),
    });
    const link = await linkOf(app.adminToken, body.url);
    const response = await get(link);
    expect(await response.text()).toBe('résumé');
    expect(response.headers.get('content-disposition')).toBe(
      `inline; filename="r_sum_ 1.txt"; filename*=UTF-8''r%C3%A9sum%C3%A9%201.txt`,
    );
    const bare = body.url.replace(/\/v3\/organizations\/[^/]+/, '');
    for (const key of [app.v1Key, app.adminToken]) expect(await linkOf(key, bare)).toMatch('signature=');
    expect((await get(bare)).status).toBe(401);
  });

  test('need UseDevinSessions', async () => {
    const { token } = await makeServiceUser(app, { roleId: 'account_member' });
    const before = await countRows();
    const refused = await upload(app, token, uploads(), { name: 'a', content: 'x' });
    expect(refused.status).toBe(403);
    expect(await countRows()).toBe(before);
  });

  test('another organization’s are unknown at every address', async () => {
    const id = await makeOrganization(app);
    const stranger = await makeUser(app, id);
    const mine = await uploadTo(app, app.organizationId, { name: 'a.txt', content: 'mine' });
    const bare = mine.attachment_id.replace('attachment-', '');
    const [known, unknown] = await Promise.all(
      [bare, '0'.repeat(32)].map(async (each) => {
        const answer = await call(app, stranger.v3Token, 'GET', `${uploads(id)}/${each}/a.txt`);
        return { status: answer.status, body: { ...answer.body, instance: '' } };
      }),
    );
    expect(known).toEqual(unknown);
    expect(known?.status).toBe(404);
    expect((await call(app, stranger.v3Token, 'GET', `/attachments/${bare}/a.txt`)).status).toBe(404);
    expect((await call(app, stranger.v3Token, 'GET', `${uploads()}/${bare}/a.txt`)).status).toBe(403);
    expect((await call(app, app.adminToken, 'GET', `${uploads(id)}/${bare}/a.txt`)).status).toBe(404);
  });
});

describe('refused uploads leave nothing behind', () => {
  const file: Part = { disposition: 'name="file"; filename="a.txt"', content: 'x' };
  const big = { disposition: 'name="file"; filename="a.bin"', content: Buffer.alloc(1_048_577) };
  const cases: [string, BodyInit, number, Record<string, string>?][] = [
    ['a byte too many', multipart([big]), 413],
    ['many bytes too many', multipart([{ ...big, content: Buffer.alloc(9_000_000) }]), 413],
    ['a body that breaks off in the file', multipart([{ ...file, content: 'x'.repeat(90_000) }], true), 400],
    ['a body that breaks off before the file', multipart([]).slice(0, 10), 400],
    ['another field', multipart([{ ...file, disposition: 'name="upload"; filename="a.txt"' }]), 422],
    ['a field without a name', multipart([{ ...file, disposition: 'filename="a.txt"' }]), 422],
    ['a text in the field', multipart([{ ...file, disposition: 'name="file"' }]), 422],
    ['no part at all', multipart([]), 422],
    ['two files', multipart([file, file]), 422],
    ['a file too many in another field', multipart([file, { ...file, disposition: 'name="b"; filename="b"' }]), 422],
    ['too many parts', multipart([...Array(30).fill({ disposition: 'name="x"', content: '' }), file]), 422],
    ['JSON', '{"file": "x"}', 400, { 'content-type': 'application/json' }],
    ['no boundary', multipart([file]), 400, { 'content-type': 'multipart/form-data' }],
    ['another boundary', multipart([file]), 400, { 'content-type': 'multipart/form-data; boundary=other' }],
    ['nothing', '', 400],
  ];
  test.each(cases)('%s', async (_, body, status, headers = {}) => {
    const before = { files: await readStoredFiles(app), rows: await countRows() };
    const answer = await sendParts(app, app.adminToken, uploads(), body, headers);
    expect(answer).toMatchObject({ status, body: { status } });
    expect(await readStoredFiles(app)).toEqual(before.files);
    expect(await countRows()).toBe(before.rows);
    // The service continues, also on the same connection.
    expect((await call(app, app.adminToken, 'GET', '/v3/self')).status).toBe(200);
  });

  test('far too much: the sender is disconnected', async () => {
    const before = { files: await readStoredFiles(app), rows: await countRows() };
    const { answer, sentBytes } = await sendEndlessly(app, uploads(), multipart([{ ...file, content: '' }], true));
    // A reset may overtake the response.
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close/i);
    expect(sentBytes).toBeLessThan(100_000_000);
    expect(await readStoredFiles(app)).toEqual(before.files);
    expect(await countRows()).toBe(before.rows);
  });

  test('a client that disconnects in the middle', async () => {
    const before = { files: await readStoredFiles(app), rows: await countRows() };
    const gone = new AbortController();
    let sent: () => void = () => undefined;
    const isSent = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(multipart([{ ...file, content: 'x'.repeat(200_000) }], true));
      },
      pull: () => sent(),
    });
    const answer = fetch(app.url + uploads(), {
      method: 'POST',
      headers: { ...bearer(app.adminToken), 'content-type': 'multipart/form-data; boundary=switchyard-test-boundary' },
      body,
      duplex: 'half',
      signal: gone.signal,
    } as RequestInit);
    await isSent;
    await expect.poll(async () => (await readStoredFiles(app)).length).toBeGreaterThan(before.files.length);
    gone.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => readStoredFiles(app)).toEqual(before.files);
    expect(await countRows()).toBe(before.rows);
  });

  test('a file of exactly the limit, and an empty one, are accepted', async () => {
    const content = new Uint8Array(1_048_576).fill(7);
    const largest = await uploadTo(app, app.organizationId, { name: 'most.bin', content });
    const response = await get(await linkOf(app.adminToken, largest.url));
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    const none = await uploadTo(app, app.organizationId, { name: 'none.txt', content: '' });
    const empty = await get(await linkOf(app.adminToken, none.url));
    expect({ status: empty.status, text: await empty.text() }).toEqual({ status: 200, text: '' });
    expect((await readStoredFiles(app)).filter((path) => path.startsWith('uploads'))).toEqual([]);
  });
});

describe('names', () => {
  test.each([
    ['../../etc/passwd', 'passwd'],
    ['/etc/passwd', 'passwd'],
    ['C:\\Windows\\system.ini', 'system.ini'],
    ['..%2f..%2Fetc%2fshadow', 'shadow'],
    ['..%5c..%5Cboot.ini', 'boot.ini'],
    ['..', 'file'],
    ['.', 'file'],
    ['', 'file'],
    ['../', 'file'],
    ['a\u0000b.txt', 'ab.txt'],
    ['a\u0007\u001b[2J.txt', 'a[2J.txt'],
    ['evil\u202Etxt.exe', 'eviltxt.exe'],
    ['.env', '.env'],
    [`${'n'.repeat(300)}.tar`, `${'n'.repeat(251)}.tar`],
    ['日本語 ☃.txt', '日本語 ☃.txt'],
    ['a%20b%.txt', 'a%20b%.txt'],
    [`it's "q" & (more)!.txt`, undefined],
  ])('%j', async (fileName, storedName) => {
    const name = fileName.replaceAll('"', '%22');
    const parts = multipart([
      { disposition: `name="file"; filename="${name.replaceAll('\\', '\\\\')}"`, content: 'x' },
    ]);
    const { status, body } = await sendParts(app, app.adminToken, uploads(), parts);
    expect(status).toBe(200);
    if (storedName !== undefined) expect(body.name).toBe(storedName);
    expect(body.name).not.toMatch(/[/\\\p{Cc}]/u);
    expect(body.name.length).toBeLessThanOrEqual(255);
    const response = await get(await linkOf(app.adminToken, body.url));
    expect(await response.text()).toBe('x');
    expect((await readStoredFiles(app)).every((path) => /^attachments\/[0-9a-f]{32}$/.test(path))).toBe(true);
  });
});

describe('served files are never executed', () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
    'base64',
  );
  const html = '<!doctype html><script>alert(1)</script>';
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  test.each<[string, string | Uint8Array<ArrayBuffer>, string, 'inline' | 'attachment', string]>([
    ['picture.png', new Uint8Array(png), 'image/png', 'inline', 'image/png'],
    ['picture.html', new Uint8Array(png), 'image/png', 'inline', 'image/png'],
    ['words.txt', 'plain words', 'text/plain; charset=utf-8', 'inline', 'text/plain'],
    ['page.html', html, 'application/octet-stream', 'attachment', 'text/html'],
    ['page.txt', html, 'application/octet-stream', 'attachment', 'text/html'],
    ['page.png', `\n  ${html}`, 'application/octet-stream', 'attachment', 'text/html'],
    ['drawing.svg', svg, 'application/octet-stream', 'attachment', 'text/html'],
    ['drawing.png', `<?xml version="1.0"?>${svg}`, 'application/octet-stream', 'attachment', 'application/xml'],
    ['program.js', 'alert(document.cookie)', 'application/octet-stream', 'attachment', 'text/plain'],
    ['page.pdf', '%PDF-1.7\n', 'application/pdf', 'attachment', 'application/pdf'],
    ['bytes.txt', new Uint8Array([1, 2, 3, 255]), 'application/octet-stream', 'attachment', 'application/octet-stream'],
    [
      'latin.txt',
      new Uint8Array([0x67, 0xfc, 0x6e]),
      'application/octet-stream',
      'attachment',
      'application/octet-stream',
    ],
  ])('%s', async (name, content, contentType, disposition, sniffed) => {
    const form = { name, content, type: 'text/html' };
    const { body } = await upload(app, app.adminToken, uploads(), form);
    const response = await get(await linkOf(app.adminToken, body.url));
    await response.arrayBuffer();
    expect(response.headers.get('content-type')).toBe(contentType);
    expect(response.headers.get('content-disposition')).toMatch(new RegExp(`^${disposition};`));
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    const session = { prompt: 'x', attachment_urls: [body.url] };
    const { body: made } = await call(
      app,
      app.adminToken,
      'POST',
      `/v3/organizations/${app.organizationId}/sessions`,
      session,
    );
    const listed = await call(
      app,
      app.adminToken,
      'GET',
      `/v3/organizations/${app.organizationId}/sessions/${made.session_id}/attachments`,
    );
    expect(listed.body.items[0].content_type).toBe(sniffed);
  });
});

describe('signed links', () => {
  const makeLink = async (content = '0123456789') =>
    linkOf(app.adminToken, (await uploadTo(app, app.organizationId, { name: 'digits.txt', content })).url);

  test('403 for any change of the link', async () => {
    const link = await makeLink();
    const other = await makeLink();
    const { searchParams } = new URL(link);
    const expires = searchParams.get('expires') as string;
    const forged = [
      link.replace('digits.txt', 'other.txt'),
      link.replace(`expires=${expires}`, `expires=${Number(expires) + 1}`),
      link.replace(`expires=${expires}`, 'expires='),
      link.replace(/signature=.*/, 'signature='),
      link.replace(/signature=.*/, `signature=${'A'.repeat(43)}`),
      link.replace(/signature=.*/, 'signature=%00%ff'),
      link.replace(/[0-9a-f]{32}/, new URL(other).pathname.split('/')[2] as string),
      link.replace('digits.txt', 'digits%2etxt%'),
    ];
    for (const url of forged) {
      const answer = await get(url);
      expect({ url, status: answer.status }).toEqual({ url, status: 403 });
      expect(await answer.json()).toEqual({ detail: expect.stringContaining('not valid') });
    }
    expect((await get(link)).status).toBe(200);
  });

  test('403 after its expiry', async () => {
    const link = await makeLink();
    const { services } = app.app;
    const { now } = services;
    const in59Minutes = new Date(now().getTime() + 59 * 60_000);
    const in61Minutes = new Date(now().getTime() + 61 * 60_000);
    try {
      Object.assign(services, { now: () => in59Minutes });
      expect((await get(link)).status).toBe(200);
      Object.assign(services, { now: () => in61Minutes });
      const answer = await get(link);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toEqual({ detail: 'This link has expired. Request a new one.' });
    } finally {
      Object.assign(services, { now });
    }
  });

  test('404 once its organization is deleted', async () => {
    const id = await makeOrganization(app);
    const link = await linkOf(app.adminToken, (await uploadTo(app, id, { name: 'a', content: 'x' })).url);
    expect((await get(link)).status).toBe(200);
    await call(app, app.adminToken, 'DELETE', `/v3/enterprise/organizations/${id}`);
    expect((await get(link)).status).toBe(404);
  });

  test('allow HEAD besides GET only', async () => {
    const link = await makeLink();
    const head = await fetch(link, { method: 'HEAD' });
    expect({ status: head.status, length: head.headers.get('content-length') }).toEqual({ status: 200, length: '10' });
    const post = await fetch(link, { method: 'POST' });
    expect({ status: post.status, allow: post.headers.get('allow') }).toEqual({
      status: 405,
      allow: 'GET, HEAD, OPTIONS',
    });
  });

  test.each<[string, number, string, string | null]>([
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-30', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=8-100', 206, '89', 'bytes 8-9/10'],
    ['bytes=0-0', 206, '0', 'bytes 0-0/10'],
    ['bytes=4-2', 200, '0123456789', null],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
    ['bytes=-', 200, '0123456789', null],
    ['bytes=99999999999999999999-', 200, '0123456789', null],
  ])('Range: %s', async (range, status, text, contentRange) => {
    const answer = await get(await makeLink(), { range });
    expect({ status: answer.status, text: await answer.text(), range: answer.headers.get('content-range') }).toEqual({
      status,
      text,
      range: contentRange,
    });
  });

  test.each(['bytes=10-', 'bytes=-0'])('Range: %s is not satisfiable', async (range) => {
    const answer = await get(await makeLink(), { range });
    expect({ status: answer.status, range: answer.headers.get('content-range') }).toEqual({
      status: 416,
      range: 'bytes */10',
    });
  });
});
