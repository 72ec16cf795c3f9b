import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { globalId } from '../../../domain/ids.ts';
import {
  createSnapshot,
  deleteSnapshot,
  type SnapshotChange,
  updateSnapshot,
} from '../../../domain/snapshots/change-snapshots.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { managesSession, viewsSession } from './needs.ts';
import { sessionIdDescription } from './session-id.ts';
import { SessionPointInput } from './session-points.ts';
import { Snapshot } from './snapshots.ts';

const oneSnapshot = (t: InputFields) => ({
  snapshotId: t.id({ required: true, description: 'Global ID or REST id of the snapshot.' }),
});
const nameIs = 'Name of the snapshot, 1 to 200 characters, unique in the organization and not in the form of an id.';
const descriptionIs = 'Note about the snapshot, at most 2,000 characters. Null means none.';

/** The payload of createSnapshot. */
export const CreateSnapshotPayload = addMutation('createSnapshot', {
  description:
    'Gives a name to a checkpoint of a session, so that sessions of the organization can start from it. Everybody who may start sessions there gets all its files, with those in the home directory of the agent. An organization has at most 200 snapshots.',
  needs: [managesSession, viewsSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    point: t.field({
      type: SessionPointInput,
      description: 'Point that the snapshot is of. Defaults to the newest checkpoint of the session.',
    }),
    name: t.string({ required: true, description: nameIs }),
    description: t.string({ description: descriptionIs }),
  }),
  takes: 'idempotencyKey',
  payload: { snapshot: Snapshot },
  act: async (input, { domain }, options) => ({
    snapshot: await createSnapshot(ofAnySession(ofAnySession(domain, 'view'), 'manage'), input, options),
  }),
});

addMutation('updateSnapshot', {
  description: 'Updates a snapshot. Omitted fields keep their values.',
  needs: [managesSession],
  input: (t) => ({
    ...oneSnapshot(t),
    name: t.string({ description: `${nameIs} Must not be null.` }),
    description: t.string({ description: descriptionIs }),
  }),
  takes: 'expectedVersion',
  payload: { snapshot: Snapshot },
  act: async ({ snapshotId, ...change }, { domain }) => ({
    snapshot: await updateSnapshot(domain, snapshotId, change as SnapshotChange),
  }),
});

addMutation('deleteSnapshot', {
  description: 'Deletes a snapshot. Sessions that started from it keep their files.',
  needs: [managesSession],
  input: oneSnapshot,
  takes: 'expectedVersion',
  payload: { deletedSnapshotId: 'ID' },
  act: async ({ snapshotId, ...condition }, { domain }) => {
    const { id } = await deleteSnapshot(domain, snapshotId, condition);
    return { deletedSnapshotId: globalId('snapshot', id) };
  },
});
