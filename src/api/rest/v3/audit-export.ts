import { z } from '@hono/zod-openapi';
import type { Viewer } from '../../../auth/viewer.ts';
import { DomainError } from '../../../common/errors.ts';
import {
  type AuditExport,
  type AuditExportRequest,
  beginAuditExport,
  openAuditSigningKey,
} from '../../../domain/audit/export/export-audit-log.ts';
import { createLineChain, formatVersion, headerType, signLines } from '../../../domain/audit/export/signed-lines.ts';
import type { Context } from '../../../domain/context.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { openLiveStream, tooManyStreams } from '../../../domain/limits/open-streams.ts';
import { abortableBody } from '../../../http/abortable-body.ts';
import { inPieces } from '../../../http/in-pieces.ts';
import { Reply } from '../../../http/reply.ts';
import type { RequestView } from '../../../http/request-view.ts';
import { integerParam, textParam } from '../query.ts';
import { invalidRequest } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { lastSecond, presentEntry } from './audit-logs.ts';
import { time } from './dialect.ts';

const contentType = 'application/x-ndjson';

const exportQuery = z.object({
  after: textParam('after', {
    description:
      'The `end_cursor` of an earlier export, or of the list with `order=asc`. The export continues after it, and skips nothing. Not with times.',
  }),
  time_after: integerParam('time_after', { description: 'Only entries of this time or later, in Unix seconds.' }),
  time_before: integerParam('time_before', { description: 'Only entries before this time, in Unix seconds.' }),
});

type ExportQuery = z.output<typeof exportQuery>;

const keyResponse = z
  .object({
    key_id: z.string(),
    algorithm: z.literal('Ed25519'),
    public_key: z.string().openapi({ description: 'The public key in PEM (SPKI).' }),
  })
  .openapi('AuditLogPublicKeyResponse');

function readRange(query: ExportQuery): Omit<AuditExportRequest, 'organizationId'> {
  const issues = (['time_after', 'time_before'] as const).flatMap((name) => {
    const seconds = query[name];
    if (seconds === undefined || (seconds >= 0 && seconds <= lastSecond)) return [];
    const msg = `"${name}" must be a time in Unix seconds, but was ${seconds}.`;
    return [{ loc: ['query', name], msg, type: 'value_error' }];
  });
  if (issues.length > 0) throw invalidRequest(issues);
  const at = (seconds: number | undefined) => (seconds === undefined ? undefined : new Date(seconds * 1_000));
  return { after: query.after, createdAfter: at(query.time_after), createdBefore: at(query.time_before) };
}

/** The lines of an export, in texts that end with a line break. Memory holds one batch of entries. */
async function* writeLines(
  { organizationId, createdAt, signingKey, endCursor, batches }: AuditExport,
  query: ExportQuery,
  viewer: () => Viewer,
): AsyncGenerator<string, undefined> {
  const chain = createLineChain();
  const write = (value: object) => {
    const line = JSON.stringify(value);
    chain.add(line);
    return `${line}\n`;
  };
  yield write({
    type: headerType,
    version: formatVersion,
    enterprise_id: prefixedId('enterprise', viewer().enterpriseId),
    org_id: organizationId && prefixedId('organization', organizationId),
    after: query.after ?? null,
    end_cursor: endCursor,
    time_after: query.time_after ?? null,
    time_before: query.time_before ?? null,
    created_at: time(createdAt),
    key_id: signingKey.id,
  });
  for await (const entries of batches(viewer)) yield entries.map((entry) => write(presentEntry(entry))).join('');
  yield `${signLines(chain, signingKey.privateKey)}\n`;
  return undefined;
}

/** A body of texts. A failure closes the connection, so that no client takes a part of the export for all of it. */
function bodyOf(context: Context, texts: AsyncGenerator<string, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await texts.next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        } catch (error) {
          context.log.warn({ err: error }, 'An export of the audit log could not be written completely.');
          controller.error(error);
        }
      },
      cancel: () => void texts.return(undefined),
    },
    { highWaterMark: 0 },
  );
}

async function sendExport(
  context: Context,
  request: RequestView,
  query: ExportQuery,
  organizationId: string | undefined,
): Promise<Reply> {
  const log = await beginAuditExport(context, { ...readRange(query), organizationId });
  const reply = new Reply(200, { 'content-type': contentType, 'cache-control': 'private, no-store' });
  const live = openLiveStream(context, context, () => request.destroy());
  if (live === null) throw new DomainError('RATE_LIMITED', tooManyStreams(context.openStreams));
  const texts = bodyOf(context, writeLines(log, query, live.current)).pipeThrough(inPieces());
  const body = abortableBody(request.signal, texts, live.leave, () => request.destroy());
  return new Reply(reply.status, reply.headers, body);
}

/**
 * `/v3/enterprise/audit-logs/export`, the same for one organization, and the public key of both. The exports are POST requests, because the
 * log records them.
 */
export function serveAuditExports(api: VersionApi): void {
  api.serve(
    {
      method: 'post',
      paths: ['/v3/enterprise/audit-logs/export'],
      name: 'exportAuditLogs',
      summary: 'Export the audit log of the enterprise as signed lines of JSON',
      query: exportQuery,
      answer: z.string(),
      answerTypes: [contentType],
      refusals: [403, 422],
    },
    ({ context, request, query }) => sendExport(context, request, query, undefined),
  );

  api.serve(
    {
      method: 'post',
      paths: ['/v3/enterprise/organizations/{org_id}/audit-logs/export'],
      name: 'exportOrganizationAuditLogs',
      summary: 'Export the audit log of an organization as signed lines of JSON',
      query: exportQuery,
      answer: z.string(),
      answerTypes: [contentType],
      refusals: [403, 404, 422],
    },
    ({ context, request, query, param }) => sendExport(context, request, query, param('org_id')),
  );

  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/audit-logs/public-key'],
      name: 'getAuditLogPublicKey',
      summary: 'Read the public key that verifies exports of the audit log',
      answer: keyResponse,
      refusals: [403],
    },
    async ({ context }) => {
      const { id, publicKey } = await openAuditSigningKey(context);
      return { key_id: id, algorithm: 'Ed25519' as const, public_key: publicKey };
    },
  );
}
