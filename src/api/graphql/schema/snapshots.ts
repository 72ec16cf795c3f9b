import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import { type SnapshotRecord, snapshotsOf } from '../../../domain/snapshots/snapshots.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { Checkpoint } from './checkpoints.ts';
import { createdMembers, filterInput, orderInput, parseListFilter, readId } from './list-inputs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';
import { Session } from './sessions.ts';

/** A named checkpoint from which sessions start. */
export const Snapshot = builder.objectRef<SnapshotRecord>('Snapshot');

/** The types of lists of Snapshot. */
export const SnapshotList = listTypes(Snapshot, 'Snapshot');

builder.node(Snapshot, {
  description:
    'Checkpoint of a session with a name, from which sessions of the organization can start. It is kept until it is deleted, whatever happens to the session.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the snapshot, unique across all types.' },
  fields: (t) => ({
    snapshotId: restIdField(t, 'snapshot', 'Id of the snapshot: `snapshot-` and 32 hexadecimal digits.'),
    name: t.exposeString('name', {
      description: 'Name of the snapshot, at most 200 characters and unique in the organization.',
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Note about the snapshot; null if there is none.',
    }),
    organization: t.field({
      type: Organization,
      description: 'Organization that the snapshot belongs to.',
      resolve: async ({ organizationId }, _args, { loaders }) =>
        (await loaders.of(findOrganizations).load(organizationId)) as never,
    }),
    checkpoint: t.field({
      type: Checkpoint,
      nullable: true,
      description: 'Checkpoint with the files; null if the viewer may not view it.',
      resolve: ({ checkpointId }, _args, { loaders }) => loaders.checkpoints.load(checkpointId),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'Session that the files are of; null if the viewer may not view it.',
      resolve: ({ sessionId }, _args, { loaders }) => loaders.sessions.load(sessionId),
    }),
    ...authorshipFields(t),
  }),
});

const SnapshotFilterInput = filterInput('Snapshot', (t) => ({
  search: t.string({
    description: 'Only snapshots whose name or description contains this text, regardless of case.',
  }),
  sessionId: t.id({ description: 'Only snapshots of the session with this global ID or REST id.' }),
  ...createdMembers(t),
}));

const SnapshotOrderInput = orderInput('Snapshot', 'Time when the snapshot was created.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

addList(Organization, 'snapshots', {
  types: SnapshotList,
  description: 'Snapshots of the organization.',
  needs: 'viewSession',
  filter: SnapshotFilterInput,
  order: SnapshotOrderInput,
  read: ({ id }, args, { domain }) => {
    const filter = { ...parseListFilter(args.filter), sessionId: readId('session', args.filter?.sessionId) };
    return snapshotsOf(domain, id, filter, args.orderBy);
  },
});
