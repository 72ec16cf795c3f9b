import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { linkOf, readStoredFiles, upload, uploadTo } from '../support/uploads.ts';

let s3: S3Server;
let test: TestApp;
beforeAll(async () => {
  s3 = await startS3Server();
  const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };
  const bucket = { bucket: 'files', region: 'eu-central-1', endpoint: s3.endpoint, credentials };
  test = await startApp({ s3: bucket, maxAttachmentBytes: 3_000_000 });
});
afterAll(async () => {
  await test.close();
  s3.close();
});

it('stores attachments in the bucket, and nothing on this machine', async () => {
  const content = new Uint8Array(2_500_000).map((_, n) => n % 251);
  const { attachment_id, url } = await uploadTo(test, test.organizationId, { name: 'large.bin', content });
  const id = attachment_id.replace('attachment-', '');
  expect([...s3.objects.keys()]).toEqual([`/files/${id.slice(-2)}/${id}`]);
  expect(await readStoredFiles(test)).toEqual([]);
  const link = await linkOf(test.adminToken, url);
  expect(Buffer.from(await (await fetch(link)).arrayBuffer()).equals(content)).toBe(true);
  const part = await fetch(link, { headers: { range: 'bytes=1000-1004' } });
  expect(part.status).toBe(206);
  expect(new Uint8Array(await part.arrayBuffer())).toEqual(content.slice(1000, 1005));
});

it('sends nothing of a refused upload to the bucket', async () => {
  const before = s3.requests.length;
  const path = `/v3/organizations/${test.organizationId}/attachments`;
  const answer = await upload(test, test.adminToken, path, { name: 'a.bin', content: new Uint8Array(3_000_001) });
  expect(answer.status).toBe(413);
  expect(s3.requests.slice(before)).toEqual([]);
});

it('answers 404 for an object that was removed from the bucket', async () => {
  const { url } = await uploadTo(test, test.organizationId, { name: 'lost.txt', content: 'x' });
  const link = await linkOf(test.adminToken, url);
  s3.objects.clear();
  const answer = await fetch(link);
  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 404,
    body: { detail: 'There is no such attachment.' },
  });
});

it('creates no attachment if the bucket refuses it', async () => {
  const credentials = { accessKeyId: 'other', secretAccessKey: 'other' };
  const own = await startApp({
    s3: { bucket: 'files', region: 'eu-central-1', endpoint: s3.endpoint, credentials },
  });
  try {
    const path = `/v3/organizations/${own.organizationId}/attachments`;
    const answer = await upload(own, own.adminToken, path, { name: 'a.txt', content: 'x' });
    expect(answer.status).toBe(503);
    expect(JSON.stringify(answer.body)).not.toContain('AccessDenied');
    const [row] = await own.app.services.store.query<{ n: number }>('select count(*)::int as n from attachment');
    expect(row?.n).toBe(0);
    expect((await call(own, own.adminToken, 'GET', '/v3/self')).status).toBe(200);
  } finally {
    await own.close();
  }
});

it('answers 503 with Retry-After for reads and writes while the bucket is down', async () => {
  const own = await startS3Server();
  const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };
  const app = await startApp({
    s3: { bucket: 'files', region: 'eu-central-1', endpoint: own.endpoint, credentials },
  });
  try {
    const { url } = await uploadTo(app, app.organizationId, { name: 'kept.txt', content: 'x' });
    const link = await linkOf(app.adminToken, url);
    own.close();
    const path = `/v3/organizations/${app.organizationId}/attachments`;
    const answer = await upload(app, app.adminToken, path, { name: 'a.txt', content: 'x' });
    expect(answer.status).toBe(503);
    expect(answer.body.detail).toContain('The file storage isn’t responding.');
    const read = await fetch(link);
    expect(read.status).toBe(503);
    expect(read.headers.get('retry-after')).toBe('2');
    const [row] = await app.app.services.store.query<{ n: number }>('select count(*)::int as n from attachment');
    expect(row?.n).toBe(1);
  } finally {
    await app.close();
  }
});
