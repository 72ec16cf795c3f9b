import { z } from '@hono/zod-openapi';
import { DomainError } from '../../../common/errors.ts';
import { getAttachment } from '../../../domain/sessions/attachments/attachments.ts';
import { createAttachment } from '../../../domain/sessions/attachments/create-attachment.ts';
import { attachmentLink, attachmentPath } from '../../../domain/sessions/attachments/links.ts';
import { jsonReply, Reply } from '../../../http/reply.ts';
import { receiveFile } from '../multipart.ts';
import { RequestError } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { organizationOf } from './dialect.ts';

const field = 'file';

/** `/v1/attachments`. */
export function serveAttachments(api: VersionApi): void {
  api.serve(
    {
      method: 'post',
      paths: ['/v1/attachments'],
      name: 'uploadAttachment',
      successor: 'POST /v3/organizations/{org_id}/attachments',
      summary: 'Upload a file; the answer is its address, for a line ATTACHMENT:"<url>" in a prompt or a message',
      file: field,
      answer: z.string(),
      answerTypes: ['text/plain', 'application/json'],
      refusals: [400, 403, 413, 422],
    },
    async ({ context, request }) => {
      const organizationId = await organizationOf(context);
      const attachment = await receiveFile(request, field, (file) =>
        createAttachment(context, { organizationId, ...file }),
      );
      const url = `${context.baseUrl}/v1${attachmentPath(attachment)}`;
      // Bare text, or JSON where `Accept` names it (docs/wire/v1.md#attachments).
      if (/\bapplication\/json\b/i.test(request.header('accept') ?? '')) return jsonReply(200, url);
      return new Reply(200, { 'content-type': 'text/plain; charset=utf-8' }, url);
    },
  );

  api.serve(
    {
      method: 'get',
      paths: ['/v1/attachments/{uuid}/{name}'],
      name: 'getAttachment',
      successor: 'GET /v3/organizations/{org_id}/attachments/{uuid}/{name}',
      summary: 'Go to a file, by a link that needs no key and is good for an hour',
      status: 307,
      refusals: [403, 404, 422],
    },
    async ({ context, param }) => {
      const organizationId = await organizationOf(context);
      const attachmentRef = { organizationId, attachmentId: param('uuid'), name: param('name') };
      const attachment = await getAttachment(context, attachmentRef).catch((error: unknown) => {
        const isMissing = error instanceof DomainError && error.code === 'NOT_FOUND';
        throw isMissing ? new RequestError('Attachment not found', { status: 404 }) : error;
      });
      return new Reply(307, { location: attachmentLink(context, attachment) });
    },
  );
}
