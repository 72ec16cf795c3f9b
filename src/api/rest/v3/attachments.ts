import { z } from '@hono/zod-openapi';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../../domain/context.ts';
import { useOrganization } from '../../../domain/identity/organizations/use-organization.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { AttachmentRecord } from '../../../domain/sessions/attachments/attachments.ts';
import { getAttachment, listSessionAttachments } from '../../../domain/sessions/attachments/attachments.ts';
import { createAttachment } from '../../../domain/sessions/attachments/create-attachment.ts';
import { attachmentLink, attachmentPath } from '../../../domain/sessions/attachments/links.ts';
import { Reply } from '../../../http/reply.ts';
import { receiveFile } from '../multipart.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage } from './dialect.ts';
import { sessionScopes } from './session-scopes.ts';

const organization = '/v3/organizations/{org_id}';
const field = 'file';

const attachmentResponse = z
  .object({ attachment_id: z.string(), name: z.string(), url: z.string() })
  .openapi('AttachmentResponse');

const sessionAttachment = z
  .object({
    attachment_id: z.string(),
    name: z.string(),
    url: z.string().openapi({ description: 'Needs no key, and is good for an hour.' }),
    source: z.enum(['devin', 'user']),
    content_type: z.string(),
  })
  .openapi('SessionAttachment');

function presentSessionAttachment(context: Context, attachment: AttachmentRecord): z.input<typeof sessionAttachment> {
  return {
    attachment_id: prefixedId('attachment', attachment.id),
    name: attachment.name,
    url: attachmentLink(context, attachment),
    source: attachment.source === 'agent' ? 'devin' : 'user',
    content_type: attachment.contentType,
  };
}

/** `…/attachments`, and `…/sessions/{devin_id}/attachments` in both scopes. */
export function serveAttachments(api: VersionApi): void {
  api.serve(
    {
      method: 'post',
      paths: [`${organization}/attachments`],
      name: 'uploadAttachment',
      summary: 'Upload a file, for `attachment_urls` of a session or a message',
      file: field,
      answer: attachmentResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, request, param }) => {
      const { id: organizationId } = await useOrganization(context, param('org_id'), permissionFor.uploadAttachment);
      const attachment = await receiveFile(request, field, (file) =>
        createAttachment(context, { organizationId, ...file }),
      );
      const basePath = `/v3/organizations/${prefixedId('organization', organizationId)}`;
      return {
        attachment_id: prefixedId('attachment', attachment.id),
        name: attachment.name,
        url: context.baseUrl + basePath + attachmentPath(attachment),
      };
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [`${organization}/attachments/{uuid}/{name}`],
      name: 'getAttachment',
      summary: 'Go to a file, by a link that needs no key and is good for an hour',
      status: 307,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const { id: organizationId } = await useOrganization(context, param('org_id'), permissionFor.viewAttachment);
      const attachmentRef = { organizationId, attachmentId: param('uuid'), name: param('name') };
      const location = attachmentLink(context, await getAttachment(context, attachmentRef));
      return new Reply(307, { location });
    },
  );

  for (const { one, word, of, query, enter } of sessionScopes) {
    api.serve(
      {
        method: 'get',
        paths: [`${one}/attachments`],
        name: `list${word}SessionAttachments`,
        summary: `List the files of a session ${of}, oldest first`,
        query: z.object({ ...query, ...pageQuery }),
        answer: pageOf(sessionAttachment),
        refusals: [403, 404, 422],
      },
      async (call) => {
        const { context, target } = await enter(call, 'view');
        const attachments = await listSessionAttachments(context, target, call.query, page);
        return presentPage(attachments, (each) => presentSessionAttachment(context, each));
      },
    );
  }
}
