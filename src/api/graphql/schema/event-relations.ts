import { parseId } from '../../../domain/ids.ts';
import { attachmentsNamedIn, maxAttachments } from '../../../domain/sessions/attachments/attach.ts';
import { builder } from '../builder.ts';
import { Attachment } from './attachments.ts';
import { SessionEvent, SessionMessage } from './events.ts';
import { AttachmentEvent } from './reported-events.ts';
import { Session } from './sessions.ts';

builder.interfaceField(SessionEvent, 'session', (t) =>
  t.field({
    type: Session,
    nullable: true,
    description: 'Session that the log entry belongs to; null if the viewer may not view the session.',
    resolve: ({ sessionId }, _args, { loaders }) => loaders.sessions.load(sessionId),
  }),
);

builder.objectField(Attachment, 'session', (t) =>
  t.field({
    type: Session,
    nullable: true,
    description:
      'Session that the file belongs to; null if the file belongs to no session yet, or if the viewer may not view the session.',
    resolve: ({ sessionId }, _args, { loaders }) => (sessionId === null ? null : loaders.sessions.load(sessionId)),
  }),
);

builder.objectField(AttachmentEvent, 'attachment', (t) =>
  t.field({
    type: Attachment,
    nullable: true,
    description: 'The attached file; null if it was deleted, or if the viewer may not use it.',
    resolve: ({ data }, _args, { loaders }) => {
      const id = typeof data?.attachmentId === 'string' ? parseId('attachment', data.attachmentId) : null;
      return id === null ? null : loaders.attachments.load(id);
    },
  }),
);

builder.objectField(SessionMessage, 'attachments', (t) =>
  t.field({
    type: [Attachment],
    description: `Files that the message refers to, without those that the viewer may not use. Maximum ${maxAttachments}.`,
    resolve: async ({ sessionId, body }, _args, { loaders }) => {
      const ids = attachmentsNamedIn(body).slice(0, maxAttachments);
      if (ids.length === 0) return [];
      const [session, ...found] = await Promise.all([
        loaders.sessions.load(sessionId),
        ...ids.map((id) => loaders.attachments.load(id)),
      ]);
      // A text may contain any id; files of other organizations do not belong to this message.
      return found.filter((file) => file !== null && file.organizationId === session?.organizationId) as never;
    },
  }),
);
