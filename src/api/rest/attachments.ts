import { Readable } from 'node:stream';
import { z } from '@hono/zod-openapi';
import type { ErrorCode } from '../../common/errors.ts';
import { DomainError, notFound, retryAfterOf } from '../../common/errors.ts';
import type { Services } from '../../domain/context.ts';
import { type AttachmentRecord, getAttachment } from '../../domain/sessions/attachments/attachments.ts';
import { attachmentLink, openAttachmentLink } from '../../domain/sessions/attachments/links.ts';
import { asRefusal } from '../../domain/unavailable.ts';
import { jsonReply, Reply } from '../../http/reply.ts';
import { queryOf, type RequestView } from '../../http/request-view.ts';
import { isUpload, receiveUpload } from './attachment-uploads.ts';
import type { Dialect } from './dialect.ts';
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
      const { method, path } = request;
      const query = queryOf(request);
      const isRead = method === 'GET' || method === 'HEAD';
      if (isUpload(request)) return receiveUpload(services, dialect, request);
      if (!isRead || !query.has('signature')) return api.respond(request);
      try {
        return await serveLinked(services, request, query);
      } catch (failure) {
        const error = asRefusal(failure);
        if (error instanceof DomainError) return refusal(statusOf[error.code], error.message, retryAfterOf(error));
        services.log.error({ err: error, method, path }, 'A file could not be served.');
        return refusal(500, 'Something went wrong');
      }
    },
  };
}

const statusOf = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CONFIRMATION_REQUIRED: 403,
  ORGANIZATION_NOT_USABLE: 403,
  NOT_FOUND: 404,
  INVALID_INPUT: 422,
  BAD_CURSOR: 422,
  UNKNOWN_REFERENCE: 400,
  NOT_UNIQUE: 409,
  INVALID_STATE: 409,
  LIMIT_EXCEEDED: 400,
  CONFLICT: 409,
  IDEMPOTENCY_CONFLICT: 422,
  RATE_LIMITED: 429,
  SERVICE_UNAVAILABLE: 503,
} as const satisfies Record<ErrorCode, number>;

function refusal(status: number, detail: string, retryAfter: number | null = null): Reply {
  const headers = { 'cache-control': 'no-store', ...(retryAfter !== null && { 'retry-after': String(retryAfter) }) };
  return jsonReply(status, { detail }, headers);
}

const missing = 'Missing or invalid Authorization header';

const dialect: Dialect = {
  title: 'Switchyard, files',
  description: 'The addresses of attachments.',
  credentials: { prefixes: ['apk_user_', 'apk_', 'cog_'], wrongKind: `${missing}: this is no key of Switchyard.` },
  problem: (details) => {
    const { status, message, headers = {} } = details;
    return jsonReply(status, { detail: message, ...retryMembers(details) }, headers);
  },
  problemSchema: z.object({ detail: z.string() }),
  problemType: 'application/json',
  unknownRoute: 'There is no such route.',
  statusOf,
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
  const range = readRange(request.header('range'), sizeBytes);
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

/** Reads the single range of a request. Several ranges, or another unit, count as no range (RFC 9110, 14.2). */
function readRange(header: string | null, size: number): { start: number; end: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (!match || (match[1] === '' && match[2] === '')) return null;
  const [first, last] = [match[1] as string, match[2] as string];
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? 'unsatisfiable' : { start, end };
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
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*!]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    'content-type': isText ? 'text/plain; charset=utf-8' : isMarkup ? 'application/octet-stream' : contentType,
    'content-disposition': `${isShown ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'referrer-policy': 'no-referrer',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
  };
}
