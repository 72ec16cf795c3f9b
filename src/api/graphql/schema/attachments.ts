import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { type AttachmentRecord, attachmentsOf } from '../../../domain/sessions/attachments/attachments.ts';
import { attachmentLink } from '../../../domain/sessions/attachments/links.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { AttachmentSourceEnum } from './enums.ts';
import { createdBounds, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { viewsSession } from './needs.ts';
import { restIdField } from './organization-ref.ts';
import { Session } from './sessions.ts';

export const Attachment = builder.objectRef<AttachmentRecord>('Attachment');

const AttachmentList = listTypes(Attachment, 'Attachment');

builder.node(Attachment, {
  description:
    'A file that a user gave to a session or that an agent created, or the output of a tool call. Upload files to the URL of `createAttachmentUpload`, or with REST (`POST /v3/organizations/{org_id}/attachments`). `attachmentIds` accepts the id or the URL that the upload returns.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the attachment.' },
  fields: (t) => ({
    attachmentId: restIdField(t, 'attachment', 'REST id of the attachment, which begins with `attachment-`.'),
    name: t.exposeString('name', { description: 'Name of the file without a path. Maximum 255 characters.' }),
    contentType: t.exposeString('contentType', {
      description:
        'Media type of the file, for example `image/png`. Detected from the first bytes of the file, regardless of the type that the sender declared.',
    }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'Size of the file in bytes.' }),
    source: t.expose('source', {
      type: AttachmentSourceEnum,
      description: 'Origin of the file: a user, the agent or a tool.',
    }),
    url: t.field({
      type: 'URI',
      description: 'Signed URL of the file. The URL requires no API key and expires after one hour.',
      resolve: (attachment, _args, { domain }) => attachmentLink(domain, attachment),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the attachment was created.' }),
  }),
});

const AttachmentFilterInput = filterInput('Attachment', (t) => ({
  search: t.string({ description: 'Only files with a name that contains this text, regardless of case.' }),
  source: t.field({
    type: AttachmentSourceEnum,
    description: 'Only files from this origin: uploaded by a user or created by the agent. No file for TOOL.',
  }),
  ...createdBounds(t),
}));

const AttachmentOrderInput = orderInput('Attachment', 'Time when the attachment was created.');

addList(Session, 'attachments', {
  types: AttachmentList,
  description: 'Files attached to the session. Without the output of tool calls, which `ToolCallEvent.outputFile` has.',
  needs: viewsSession,
  filter: AttachmentFilterInput,
  order: AttachmentOrderInput,
  defaultOrder: 'oldest first',
  read: (session, args, { domain }) => {
    const filter = parseListFilter(args.filter);
    const list = attachmentsOf(ofAnySession(domain, 'view'), session, filter, args.orderBy);
    return list;
  },
});
