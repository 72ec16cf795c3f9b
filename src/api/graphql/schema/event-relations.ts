import { parseId } from '../../../domain/ids.ts';
import { attachmentsNamedIn, maxAttachments } from '../../../domain/sessions/attachments/attach.ts';
import type { AttachmentRecord } from '../../../domain/sessions/attachments/attachments.ts';
import { builder } from '../builder.ts';
import type { Loaders } from '../loaders.ts';
import { Attachment } from './attachments.ts';
import { Checkpoint } from './checkpoints.ts';
import { SessionEvent, SessionMessage, ToolCallEvent } from './events.ts';
import { AttachmentEvent, RewindEvent } from './reported-events.ts';
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
    resolve: ({ data }, _args, { loaders }) => loadAttachment(data?.attachmentId, loaders),
  }),
);

builder.objectField(RewindEvent, 'checkpoint', (t) =>
  t.field({
    type: Checkpoint,
    nullable: true,
    description: 'Checkpoint that the session returned to; null if it was deleted since.',
    resolve: ({ data }, _args, { loaders }) => {
      const id = typeof data?.checkpointId === 'string' ? parseId('checkpoint', data.checkpointId) : null;
      return id === null ? null : loaders.checkpoints.load(id);
    },
  }),
);

builder.objectField(ToolCallEvent, 'outputFile', (t) =>
  t.field({
    type: Attachment,
    nullable: true,
    description:
      'File with the whole output, if it has more than 16,000 characters. Maximum 10 MiB; the last line of a larger output says how much is missing. Null while the tool runs, and if the output is not stored.',
    resolve: ({ data }, _args, { loaders }) => loadAttachment(data?.outputAttachmentId, loaders),
  }),
);

function loadAttachment(id: unknown, loaders: Loaders): Promise<AttachmentRecord | null> | null {
  const bare = typeof id === 'string' ? parseId('attachment', id) : null;
  return bare === null ? null : loaders.attachments.load(bare);
}

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
      return found.filter(
        (file) =>
          file !== null &&
          file.source !== 'tool' &&
          file.source !== 'changes' &&
          file.organizationId === session?.organizationId,
      ) as never;
    },
  }),
);
