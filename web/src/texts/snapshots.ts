import type { Strings } from './kit.ts';

export const editSnapshot = {
  editTitle: 'Edit snapshot',
};

export const snapshotsPage = {
  createdBy: 'Created by',
  copyId: 'Copy ID',
  copyIdOf: ({ name }: Strings<'name'>) => `Copy ID of ${name}`,
  noSnapshotsYet: 'No snapshots yet',
  emptyText:
    'New sessions can start with the files of a snapshot. To create one, select a checkpoint in the details of a session.',
  deleteText: 'New sessions can no longer start from this snapshot. Sessions that started from it keep their files.',
};
