import { Readable } from 'node:stream';
import { z } from '@hono/zod-openapi';
import { notFound } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { type AttachmentRecord, getAttachment } from '../../domain/sessions/attachments/attachments.ts';
import { attachmentLink, openAttachmentLink } from '../../domain/sessions/attachments/links.ts';
import { jsonReply, Reply } from '../../http/reply.ts';
import { queryOf, type RequestView } from '../../http/request-view.ts';
import { isUpload, receiveUpload } from './attachment-uploads.ts';
import type { Dialect } from './dialect.ts';
import { dispositionOf, fileStatusOf, harmlessHeaders, readRange, refuseFile } from './file-replies.ts';
import { retryMembers } from './refusal.ts';
import { createVersionApi, type VersionApi } from './version-api.ts';

/**
 * Serves `/attachments/{uuid}/{name}`, the unversioned address of a file, and `/attachments/uploads/{id}`, which
 * receives one.
 */
export interface Attachments {
  /** A signed link downloads or uploads the file. A request with a key of any kind gets a redirect to a signed link. */
  respond(request: RequestView): Promise<Reply>;
}

/** Creates the {@link Attachments}. It never rejects. */
export function createAttachments(services: Services): Attachments {
  const api = createAttachmentApi(services);
  return {
    async respond(request) {
      const { method } = request;
      const query = queryOf(request);
      const isRead = method === 'GET' || method === 'HEAD';
      if (isUpload(request)) return receiveUpload(services, dialect, request);
      if (!isRead || !query.has('signature')) return api.respond(request);
      try {
        return await serveLinked(services, request, query);
      } catch (error) {
        return refuseFile(services, request, error);
      }
    },
  };
}

const missing = 'Missing or invalid Authorization header';

const dialect: Dialect = {
  title: 'Switchyard, files',
  description: 'The addresses of attachments.',
  credentials: { prefixes: ['apk_user_', 'apk_', 'cog_'], wrongKind: `${missing}: this is not a Switchyard key.` },
  problem: (details) => {
    const { status, message, headers = {} } = details;
    return jsonReply(status, { detail: message, ...retryMembers(details) }, headers);
  },
  problemSchema: z.object({ detail: z.string() }),
  problemType: 'application/json',
  unknownRoute: 'This route does not exist.',
  statusOf: fileStatusOf,
  wireNames: {},
  says: (error, text) => (error.code === 'UNAUTHENTICATED' ? missing : text),
};

function createAttachmentApi(services: Services): VersionApi {
  const api = createVersionApi(dialect, services);
  api.serve(
    {
      method: 'get',
      paths: ['/attachments/{uuid}/{name}'],
      name: 'getAttachment',
      summary: 'Go to a file',
      status: 307,
      refusals: [404],
    },
    async ({ context, param }) => {
      const attachment = await getAttachment(context, { attachmentId: param('uuid'), name: param('name') });
      return new Reply(307, { location: attachmentLink(context, attachment) });
    },
  );
  return api;
}

async function serveLinked(services: Services, request: RequestView, query: URLSearchParams): Promise<Reply> {
  const [, , id = '', name = '', ...more] = request.path.split('/');
  const link = { id, name: decode(name), expires: query.get('expires') ?? '', signature: query.get('signature') ?? '' };
  if (more.length > 0) throw notFound('attachment');
  const { attachment, storageKey } = await openAttachmentLink(services, link);
  const { sizeBytes } = attachment;
  const range = readRange(request, sizeBytes);
  const headers = safeHeaders(attachment);
  if (range === 'unsatisfiable') {
    const detail = `The range is not one of the file's ${sizeBytes} bytes.`;
    return jsonReply(416, { detail }, { ...headers, 'content-range': `bytes */${sizeBytes}` });
  }
  const length = { 'content-length': String(range ? range.end - range.start + 1 : sizeBytes) };
  const reply = range
    ? new Reply(206, { ...headers, ...length, 'content-range': `bytes ${range.start}-${range.end}/${sizeBytes}` })
    : new Reply(200, { ...headers, ...length });
  if (request.method === 'HEAD' || sizeBytes === 0) return reply;
  const content = await services.files.read(storageKey, range ?? undefined);
  if (!content) throw notFound('attachment');
  return new Reply(reply.status, reply.headers, Readable.toWeb(content) as ReadableStream<Uint8Array>);
}

// An invalid percent-encoding was never signed, so the signature check refuses it.
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Image types that browsers display inline: none of them can contain a script. */
const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);
/** File names whose extension says that the content is plain text. */
const textNames = /\.(?:txt|text|log|md|csv|tsv|json|ya?ml|toml|diff|patch)$/i;

/** Headers that make any content harmless in a browser, although the console is served from the same origin. */
function safeHeaders({ contentType, name }: AttachmentRecord): Record<string, string> {
  const isText = contentType === 'text/plain' && textNames.test(name);
  const isShown = isText || images.has(contentType);
  const isMarkup = /^text\/|xml|html|script/.test(contentType);
  return {
    'content-type': isText ? 'text/plain; charset=utf-8' : isMarkup ? 'application/octet-stream' : contentType,
    'content-disposition': dispositionOf(name, isShown),
    'accept-ranges': 'bytes',
    ...harmlessHeaders,
  };
}
