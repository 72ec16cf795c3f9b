import type { CheckpointKind } from '../../../domain/checkpoints/checkpoint.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { checkpointsOf, type SessionCheckpoint } from '../../../domain/sessions/checkpoints/checkpoints.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { defineEnum } from './define-enum.ts';
import { createdBounds, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { viewsSession } from './needs.ts';
import { restIdField } from './organization-ref.ts';
import { Session } from './sessions.ts';

/** A checkpoint of a session. */
export const Checkpoint = builder.objectRef<SessionCheckpoint>('Checkpoint');

/** The kinds of checkpoints. */
export const CheckpointKindEnum = defineEnum<CheckpointKind>(
  'CheckpointKind',
  'The occasion on which a checkpoint was saved.',
  {
    WORK: 'Saved while the agent worked.',
    TURN_END: 'Saved at the end of a turn.',
    HANDOVER: 'Saved before the agent was stopped, for example for a sleep or another worker.',
    REWIND: 'Copy of an earlier checkpoint, to which the session was reverted.',
    FORK: 'Copy of a checkpoint of another session, with which the session began.',
    ENVIRONMENT: 'Copy of the stored result of the set-up of the repository, with which the session began.',
  },
);

const missingReason = defineEnum<SessionCheckpoint['missing'][number]['reason']>(
  'CheckpointMissingReason',
  'The reason for which a part of the files is not in a checkpoint.',
  {
    UNREADABLE: 'The service may not read the part.',
    CHANGING: 'The part changed during each attempt to read it.',
    'TOO_LARGE': 'The part exceeds a limit of the service.',
    SPECIAL: 'The part is a pipe, a socket or a device.',
  },
);

const CheckpointMissingPart = builder
  .objectRef<SessionCheckpoint['missing'][number]>('CheckpointMissingPart')
  .implement({
    description: 'Part of the files of a session that is not in a checkpoint.',
    fields: (t) => ({
      path: t.exposeString('path', {
        description: 'Path of the file or directory, which begins with `workspace/` or `home/`.',
      }),
      reason: t.field({
        type: missingReason,
        description: 'Reason for which the part is missing.',
        resolve: ({ reason }) => reason,
      }),
      bytes: t.exposeFloat('bytes', {
        nullable: true,
        description: 'Size of the part in bytes; null if it is unknown.',
      }),
      files: t.exposeInt('files', { description: 'Number of files in the part.' }),
    }),
  });

builder.node(Checkpoint, {
  description:
    'State of a session’s workspace and of the agent’s home at one time. The session continues with the newest one on another worker, and can be reverted to any of them.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the checkpoint, unique across all types.' },
  fields: (t) => ({
    checkpointId: restIdField(t, 'checkpoint', 'Id of the checkpoint: `checkpoint-` and 32 hexadecimal digits.'),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'Session that the checkpoint is of; null if the viewer may not view the session.',
      resolve: ({ sessionId }, _args, { loaders }) => loaders.sessions.load(sessionId),
    }),
    kind: t.field({
      type: CheckpointKindEnum,
      description: 'Occasion on which the checkpoint was saved.',
      resolve: ({ kind }) => kind,
    }),
    turn: t.exposeInt('turn', {
      description: 'Number of the last turn that had begun; 0 if the checkpoint is from before the first turn.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the checkpoint was saved.' }),
    files: t.exposeInt('files', { description: 'Number of files in the checkpoint.' }),
    bytes: t.float({
      description: 'Size of all files in the checkpoint, in bytes.',
      resolve: ({ bytes }) => Number(bytes),
    }),
    storedBytes: t.float({
      description:
        'Bytes that the checkpoint added to the file storage, compressed and without what was stored before.',
      resolve: ({ storedBytes }) => Number(storedBytes),
    }),
    missing: t.field({
      type: [CheckpointMissingPart],
      description: 'Parts of the files that are not in the checkpoint.',
      resolve: ({ missing }) => [...missing],
    }),
    isCurrent: t.exposeBoolean('isCurrent', {
      description: 'Whether the checkpoint is the newest one of its session.',
    }),
  }),
});

/** The types of lists of Checkpoint. */
const CheckpointList = listTypes(Checkpoint, 'Checkpoint');

const CheckpointFilterInput = filterInput('Checkpoint', (t) => ({
  kinds: t.field({ type: [CheckpointKindEnum], description: 'Only checkpoints of these kinds.' }),
  turn: t.int({ description: 'Only checkpoints of the turn with this number.' }),
  ...createdBounds(t),
}));

const CheckpointOrderInput = orderInput('Checkpoint', 'Time when the checkpoint was saved.');

addList(Session, 'checkpoints', {
  types: CheckpointList,
  description:
    'Checkpoints of the session. The service keeps the newest ones and those at the ends of the last turns, and deletes the others.',
  needs: viewsSession,
  filter: CheckpointFilterInput,
  order: CheckpointOrderInput,
  read: (session, args, { domain }) =>
    checkpointsOf(ofAnySession(domain, 'view'), session, parseListFilter(args.filter), args.orderBy),
});

builder.objectFields(Session, (t) => ({
  checkpoint: t.field({
    type: Checkpoint,
    nullable: true,
    description:
      'Newest checkpoint of the session, with which its agent continues on another worker; null if there is none yet, or if the viewer may not view the session.',
    resolve: ({ id }, _args, { loaders }) => loaders.currentCheckpoints.load(id),
  }),
}));
