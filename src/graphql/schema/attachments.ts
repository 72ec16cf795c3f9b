import { type AttachmentRecord, attachmentsOf } from '../../domain/attachments/attachments.ts';
import { attachmentLink } from '../../domain/attachments/links.ts';
import { prefixedId } from '../../domain/ids.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnection } from './counted-connection.ts';
import { AttachmentSourceEnum } from './enums.ts';
import { createdBounds, listArgs, orderInput, parseListFilter } from './list-inputs.ts';
import { boundary, viewsSession } from './needs.ts';
import { Session } from './sessions.ts';

/** Attachment of the contract. */
export const Attachment = builder.objectRef<AttachmentRecord>('Attachment');

const AttachmentConnection = countedConnection(Attachment, 'Attachment', {
  page: 'A page of files.',
  edge: 'A file in a list.',
});

builder.node(Attachment, {
  description:
    'A file that a user gave to a session, or an agent made. Files are uploaded to an address of createAttachmentUpload, or by REST (POST /v3/organizations/{org_id}/attachments); attachmentIds takes the id or the address that either gives.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    attachmentId: t.string({
      description: 'The id as REST writes it.',
      resolve: ({ id }) => prefixedId('attachment', id),
    }),
    name: t.exposeString('name', { description: 'The file’s name, without a path.' }),
    contentType: t.exposeString('contentType', {
      description: 'What it is by its first bytes, whatever its sender said.',
    }),
    sizeBytes: t.exposeInt('sizeBytes', { description: 'How long it is.' }),
    source: t.expose('source', { type: AttachmentSourceEnum, description: 'Who brought it.' }),
    url: t.field({
      type: 'URI',
      description: 'Its signed address: it needs no key, and is good for an hour.',
      resolve: (attachment, _args, { domain }) => attachmentLink(domain, attachment),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it came.' }),
  }),
});

const AttachmentFilterInput = builder.inputType('AttachmentFilter', {
  description: 'Narrows a list of files: all members that are given must hold.',
  fields: (t) => ({
    search: t.string({ description: 'Only files whose name contains this text, upper and lower case alike.' }),
    source: t.field({ type: AttachmentSourceEnum, description: 'Only files that were brought by this side.' }),
    ...createdBounds(t),
  }),
});

const AttachmentOrderInput = orderInput('Attachment', 'When the file came.');

builder.objectFields(Session, (t) => ({
  attachments: t.connection(
    {
      type: Attachment,
      ...boundary(viewsSession),
      description: 'Its files, oldest first unless ordered otherwise.',
      args: listArgs(t.arg, AttachmentFilterInput, AttachmentOrderInput, 'the oldest first'),
      resolve: async (session, args, context) => {
        const filter = { ...parseListFilter(args.filter), source: args.filter?.source ?? undefined };
        const list = attachmentsOf(ofAnySession(context.domain, 'view'), session, filter, args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    AttachmentConnection,
  ),
}));
