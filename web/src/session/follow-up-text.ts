import type { followUps_pullRequest$data } from '../__generated__/followUps_pullRequest.graphql.ts';

type FollowUp = followUps_pullRequest$data['followUps'][number];
type Mode = NonNullable<followUps_pullRequest$data['followUpMode']>;

/** The names of the ways in which follow-ups reach a session. */
export const modeNames: Readonly<Record<string, string>> = {
  OFF: 'Off',
  SUGGEST: 'Suggest',
  AUTO: 'Automatic',
} satisfies Record<Exclude<Mode, '%future added value'>, string>;

/** The names of the occasions of follow-ups. */
export const kindNames: Readonly<Record<string, string>> = {
  CHECKS: 'Failed checks',
  REVIEW: 'Review',
  COMMENTS: 'Comments',
  CONFLICT: 'Conflict',
} satisfies Record<Exclude<FollowUp['kind'], '%future added value'>, string>;

const stateNames: Readonly<Record<string, string>> = {
  SUGGESTED: 'not sent yet',
  SENT: 'sent',
  DISMISSED: 'dismissed',
  CAPPED: 'stopped by a limit',
  SKIPPED: 'not sent',
} satisfies Record<Exclude<FollowUp['state'], 'PENDING' | '%future added value'>, string>;

/** Returns the state of a follow-up in the words of the console. Comments are collected before it is decided if they are sent. */
export function stateName({ kind, state }: Pick<FollowUp, 'kind' | 'state'>, mode: Mode): string {
  if (state !== 'PENDING') return stateNames[state] ?? state.toLowerCase();
  if (kind === 'COMMENTS') {
    return mode === 'AUTO' ? 'still collecting comments, then sent' : 'still collecting comments, not sent yet';
  }
  return mode === 'AUTO' ? 'about to be sent' : 'not sent yet';
}

/** Sentences about why follow-ups stopped. */
export const stopTexts: Readonly<Record<string, string>> = {
  CHECKS: 'Follow-ups stopped: checks failed again after 3 follow-ups in a row.',
  DAY: 'Follow-ups stopped: the session got 10 of them in 24 hours.',
} satisfies Record<Exclude<NonNullable<followUps_pullRequest$data['followUpStop']>, '%future added value'>, string>;

/** Tells if a person can still send a follow-up, or dismiss it. */
export const isOpen = ({ state }: Pick<FollowUp, 'state'>): boolean =>
  state === 'SUGGESTED' || state === 'CAPPED' || state === 'PENDING';
