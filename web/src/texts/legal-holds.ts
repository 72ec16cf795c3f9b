import type { Strings } from './kit.ts';

export const legalHoldsPage = {
  noAccess: 'You can’t view legal holds',
  newHold: 'New hold',
  target: 'On',
  reason: 'Reason',
  createdBy: 'Created by',
  released: 'Released',
  emptyTitle: 'No legal holds',
  emptyText:
    'A hold prevents the data of a session, an organization or a user from being deleted, both by retention and on request.',
  release: 'Release',
  releaseOf: ({ target }: Strings<'target'>) => `Release the hold on ${target}`,
  releaseTitle: ({ target }: Strings<'target'>) => `Release the hold on ${target}?`,
  releaseText: 'Its data can be deleted again, unless another hold covers it. You can’t restore a released hold.',
  done: 'Hold released.',
};

export const newHold = {
  kind: 'What to keep',
  kinds: { session: 'A session', organization: 'An organization', user: 'A user’s sessions' },
  session: 'Session',
  sessionHint: 'Enter the URL or ID of the session.',
  noTarget: 'Select what to keep.',
  reasonHint: 'Everyone who can manage legal holds can read it.',
  submit: 'Create hold',
  done: 'Hold created.',
};
