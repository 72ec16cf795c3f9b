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
    'While a hold lasts, nothing of a session, an organization or a user is deleted: neither by a retention time nor on request.',
  release: 'Release',
  releaseOf: ({ target }: Strings<'target'>) => `Release the hold on ${target}`,
  releaseTitle: ({ target }: Strings<'target'>) => `Release the hold on ${target}?`,
  releaseText: 'What it keeps is deleted as before, unless another hold covers it. A released hold can’t be put back.',
  done: 'Hold released.',
};

export const newHold = {
  kind: 'What to keep',
  kinds: { session: 'A session', organization: 'An organization', user: 'A user’s sessions' },
  session: 'Session',
  sessionHint: 'The link or the ID of the session.',
  noTarget: 'Select what to keep.',
  reasonHint: 'Everyone who may manage legal holds can read it.',
  submit: 'Create hold',
  done: 'Hold created.',
};
