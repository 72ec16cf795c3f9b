import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, relative } from 'node:path';
import type { TestApp } from './app.ts';

/** The response to an upload. */
export interface Uploaded {
  readonly status: number;
  /** Parsed JSON if possible, otherwise the text. */
  readonly body: any;
  readonly headers: Headers;
}

/** One part of a multipart body, with its headers as written. */
export interface Part {
  readonly disposition: string;
  readonly type?: string;
  readonly content: string | Uint8Array;
}

const boundary = 'switchyard-test-boundary';

/** Returns a multipart body at the byte level; `isCut` omits its end. */
export function multipart(parts: readonly Part[], isCut = false): Uint8Array<ArrayBuffer> {
  const chunks = parts.flatMap(({ disposition, type, content }) => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`),
    Buffer.from(type === undefined ? '\r\n' : `content-type: ${type}\r\n\r\n`),
    Buffer.from(content as string),
    Buffer.from(isCut ? '' : '\r\n'),
  ]);
  return new Uint8Array(Buffer.concat([...chunks, Buffer.from(isCut ? '' : `--${boundary}--\r\n`)]));
}

/** Sends a body as multipart. */
export async function sendParts(
  test: Pick<TestApp, 'url'>,
  token: string,
  path: string,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Uploaded> {
  const response = await fetch(test.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      ...(body instanceof FormData ? {} : { 'content-type': `multipart/form-data; boundary=${boundary}` }),
      ...headers,
    },
    body,
    duplex: 'half',
  } as RequestInit);
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
}

/** Sends an endless body on a separate socket until it is closed; returns the response received meanwhile. */
export async function sendEndlessly(
  test: Pick<TestApp, 'url' | 'adminToken'>,
  path: string,
  start: Uint8Array,
): Promise<{ answer: string; sentBytes: number }> {
  const { hostname, port } = new URL(test.url);
  const socket = connect(Number(port), hostname);
  const type = `multipart/form-data; boundary=${boundary}`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${test.adminToken}\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  const asChunk = (bytes: Uint8Array) =>
    Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  socket.write(asChunk(start));
  const more = asChunk(Buffer.alloc(1_000_000));
  let sentBytes = 0;
  const send = () => {
    sentBytes += more.length;
    // Only one at a time: a closed socket calls back too, with an error.
    socket.write(more, (error) => {
      if (!error) send();
    });
  };
  send();
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes.toString('latin1');
  });
  // The server may also close it with a reset.
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  return { answer, sentBytes };
}

/** Uploads a file like an ordinary client. */
export function upload(
  test: Pick<TestApp, 'url'>,
  token: string,
  path: string,
  file: { name: string; content: string | Uint8Array<ArrayBuffer>; type?: string },
): Promise<Uploaded> {
  const form = new FormData();
  form.append('file', new Blob([file.content], { type: file.type ?? '' }), file.name);
  return sendParts(test, token, path, form);
}

/** Uploads to an organization over version 3 and returns the attachment. */
export async function uploadTo(
  test: TestApp,
  organizationId: string,
  file: { name: string; content: string | Uint8Array<ArrayBuffer> },
  token = test.adminToken,
): Promise<{ attachment_id: string; name: string; url: string }> {
  const { status, body } = await upload(test, token, `/v3/organizations/${organizationId}/attachments`, file);
  if (status !== 200) throw new Error(`The upload was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Returns every stored or partly uploaded file, by its path in the data directory. */
export async function readStoredFiles(test: Pick<TestApp, 'dataDir'>): Promise<string[]> {
  const found = await Promise.all(
    ['attachments', 'uploads'].map(async (folder) => {
      // With a bucket there is no folder.
      const entries = await readdir(join(test.dataDir, folder), { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      // Checkpoints share the storage.
      const ofFiles = entries.filter((entry) => !relative(test.dataDir, entry.parentPath).includes('checkpoints'));
      const shown = ofFiles.filter((entry) => folder === 'uploads' || entry.isFile());
      return shown.map((entry) => join(folder, entry.name));
    }),
  );
  return found.flat().sort();
}

/** Returns the signed link to which an attachment's URL redirects. */
export async function linkOf(token: string, url: string): Promise<string> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' });
  const location = response.headers.get('location');
  if (response.status !== 307 || location === null) throw new Error(`${url} was answered with ${response.status}.`);
  return location;
}
