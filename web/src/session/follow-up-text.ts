import type { followUps_pullRequest$data } from '../__generated__/followUps_pullRequest.graphql.ts';
import { followUpText as texts } from '../texts/session-pull-requests.ts';

type FollowUp = followUps_pullRequest$data['followUps'][number];
type Mode = NonNullable<followUps_pullRequest$data['followUpMode']>;

/** The names of the ways in which follow-ups reach a session. */
export const modeNames: Readonly<Record<string, string>> = texts.modeNames satisfies Record<
  Exclude<Mode, '%future added value'>,
  string
>;

/** The names of the occasions of follow-ups. */
export const kindNames: Readonly<Record<string, string>> = texts.kindNames satisfies Record<
  Exclude<FollowUp['kind'], '%future added value'>,
  string
>;

const stateNames: Readonly<Record<string, string>> = texts.stateNames satisfies Record<
  Exclude<FollowUp['state'], 'PENDING' | '%future added value'>,
  string
>;

/** Returns the state of a follow-up in the words of the console. Comments are collected before it is decided if they are sent. */
export function stateName({ kind, state }: Pick<FollowUp, 'kind' | 'state'>, mode: Mode): string {
  if (state !== 'PENDING') return stateNames[state] ?? state.toLowerCase();
  if (kind === 'COMMENTS') {
    return mode === 'AUTO' ? texts.collectingThenSent : texts.collecting;
  }
  return mode === 'AUTO' ? texts.aboutToBeSent : texts.notSentYet;
}

/** Sentences about why follow-ups stopped. */
export const stopTexts: Readonly<Record<string, string>> = {
  CHECKS: texts.stoppedByChecks,
  DAY: texts.stoppedByDay,
} satisfies Record<Exclude<NonNullable<followUps_pullRequest$data['followUpStop']>, '%future added value'>, string>;

/** Tells if a person can still send a follow-up, or dismiss it. */
export const isOpen = ({ state }: Pick<FollowUp, 'state'>): boolean =>
  state === 'SUGGESTED' || state === 'CAPPED' || state === 'PENDING';
