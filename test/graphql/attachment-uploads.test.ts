import { expect, it, onTestFinished } from 'vitest';
import { graphql, startApp } from '../support/app.ts';
import { stopClock } from '../support/clock.ts';
import { ask, send, signIn } from '../support/console.ts';
import { makeRole, runMutation } from '../support/people.ts';
import { makeKey, makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { multipart, readStoredFiles, sendParts } from '../support/uploads.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp({ maxAttachmentBytes: 1_048_576 });

const request = (token: string, input: Record<string, unknown> = {}) =>
  runMutation(test, 'createAttachmentUpload', 'attachmentUpload { url expiresAt maxBytes }', input, token);
const addressFor = async (token: string): Promise<string> => (await request(token)).attachmentUpload.url;
const put = async (url: string, content: string | Uint8Array<ArrayBuffer> = 'trains', name = 'notes.txt') => {
  const form = new FormData();
  form.append('file', new Blob([content]), name);
  const response = await fetch(url, { method: 'POST', body: form });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
};

it('returns an address that takes one file for a prompt', async () => {
  const { token } = await makeOrganization(test, 'Uploads');
  const { attachmentUpload: upload } = await request(token);
  expect(upload).toEqual({ url: expect.any(String), expiresAt: expect.any(String), maxBytes: 1_048_576 });
  expect(upload.url).toMatch(new RegExp(`^${test.url}/attachments/uploads/`));
  const { status, body, headers } = await put(upload.url, 'trains', '../a/notes.txt');
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      attachment_id: expect.stringMatching(/^attachment-[0-9a-f]{32}$/),
      name: 'notes.txt',
      url: expect.stringMatching(/\/attachments\/[0-9a-f]{32}\/notes\.txt$/),
    },
  });
  expect(headers.get('cache-control')).toBe('no-store');
  const input = { prompt: 'Read it', attachmentIds: [body.attachment_id] };
  const list = 'session { attachments { nodes { attachmentId name source sizeBytes } } }';
  const { session } = await runMutation(test, 'createSession', list, input, token);
  expect(session.attachments.nodes).toEqual([
    { attachmentId: body.attachment_id, name: 'notes.txt', source: 'USER', sizeBytes: 6 },
  ]);
});

it('takes one file per address, even of two at once, and stores nothing of the other', async () => {
  const { token } = await makeOrganization(test, 'Once');
  const url = await addressFor(token);
  const before = (await readStoredFiles(test)).length;
  const answers = await Promise.all([put(url, 'one'), put(url, 'two')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  expect((await put(url)).body).toEqual({ detail: 'This upload link was already used. Request a new one.' });
  expect((await readStoredFiles(test)).length).toBe(before + 1);
});

it('takes another file after a refused one: too large, or no form', async () => {
  const { token } = await makeOrganization(test, 'Refused');
  const url = await addressFor(token);
  const tooLarge = await put(url, new Uint8Array(1_048_577));
  expect(tooLarge).toMatchObject({ status: 413, body: { detail: '"file" must be at most 1 MiB.' } });
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(400);
  const path = url.slice(test.url.length);
  const cut = multipart([{ disposition: 'name="file"; filename="a.txt"', content: 'x' }], true);
  expect((await sendParts(test, 'none', path, cut)).status).toBe(400);
  expect((await put(url)).status).toBe(200);
});

it('is valid only for the requested organization, and only unchanged', async () => {
  const one = await makeOrganization(test, 'One');
  const other = await makeOrganization(test, 'Other');
  const url = new URL(await addressFor(one.token));
  const changed = (change: (copy: URL) => void) => {
    const copy = new URL(url);
    change(copy);
    return put(copy.href);
  };
  const otherId = new URL(await addressFor(other.token)).searchParams.get('organizationId') as string;
  const forged = await Promise.all([
    changed(({ searchParams }) => searchParams.set('organizationId', otherId)),
    changed(({ searchParams }) => searchParams.set('apiKeyId', 'x')),
    changed(({ searchParams }) => searchParams.set('expires', '9999999999')),
    changed(({ searchParams }) => searchParams.delete('signature')),
    changed((copy) => {
      copy.pathname = `${copy.pathname}0`;
    }),
  ]);
  expect(forged.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  const document =
    'mutation($input: CreateAttachmentUploadInput!) { createAttachmentUpload(input: $input) { clientMutationId } }';
  const codes = [];
  for (const organizationId of [other.organizationId, `org-${'0'.repeat(32)}`]) {
    const { errors } = await graphql(test, one.token, document, { input: { organizationId } });
    codes.push([errors?.[0].extensions.code, errors?.[0].message]);
  }
  expect(codes[0]?.[0]).toBe('NOT_FOUND');
  expect(codes[1]).toEqual(codes[0]);
  expect((await put(url.href)).status).toBe(200);
});

it('expires with the key or the sign-in that requested it', async () => {
  const { serviceUserId } = await makeOrganization(test, 'Ends');
  const token = await makeKey(test, { kind: 'SERVICE_USER', serviceUserId });
  const halves = await signIn(test, token);
  const document = 'mutation { createAttachmentUpload(input: {}) { attachmentUpload { url } } }';
  const ofConsole = (await ask(test, halves, document)).data.createAttachmentUpload.attachmentUpload.url;
  const ofKey = await addressFor(token);
  await send(test, 'DELETE', undefined, { ...halves });
  expect(await put(ofConsole)).toMatchObject({
    status: 401,
    body: { detail: 'The key that requested this link is no longer valid.' },
  });
  await runMutation(test, 'deleteServiceUser', 'deletedServiceUserId', { serviceUserId });
  expect((await put(ofKey)).status).toBe(401);
});

it('gives an address only to callers that may use sessions, and takes files of them only', async () => {
  const { organizationId, serviceUserId, token } = await makeOrganization(test, 'May');
  const role = await makeRole(test, 'ORGANIZATION', ['VIEW_ORG_SESSIONS']);
  const { token: watcher } = await makeUser(test, { organizationId, roleId: role.id });
  expect(await request(watcher, { organizationId })).toMatchObject({
    error: 'FORBIDDEN',
    message: expect.stringContaining('USE_SESSIONS'),
  });
  const url = await addressFor(token);
  await test.app.services.store.execute('delete from role_assignment where service_user_id = $1', [
    serviceUserId.replace(/^.*-/, ''),
  ]);
  expect((await put(url)).status).toBe(403);
});

it('counts as a REST request of the key that requested it', async () => {
  const narrow = await startApp({ rateLimitRest: 1 });
  onTestFinished(() => narrow.close());
  stopClock(narrow);
  const made = await runMutation(narrow, 'createAttachmentUpload', 'attachmentUpload { url }', {
    organizationId: narrow.organizationId,
  });
  const { url } = made.attachmentUpload;
  expect((await put(url)).status).toBe(200);
  const next = await runMutation(narrow, 'createAttachmentUpload', 'attachmentUpload { url }', {
    organizationId: narrow.organizationId,
  });
  const limited = await put(next.attachmentUpload.url);
  expect({ status: limited.status, retry: limited.headers.get('retry-after') }).toEqual({
    status: 429,
    retry: expect.any(String),
  });
});

it('gives an address that is valid for ten minutes', async () => {
  const { token } = await makeOrganization(test, 'Late');
  const clock = stopClock(test);
  const late = await addressFor(token);
  clock.advance(10 * 60_000);
  expect(await put(late)).toMatchObject({ status: 403, body: { detail: expect.stringContaining('has expired') } });
});
