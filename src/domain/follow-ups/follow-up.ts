import { type Narrowed, selectFields } from '../../store/tables.ts';
import type { FollowUpMode } from '../repositories/follow-up-settings.ts';

/** The kinds of follow-ups. */
export const followUpKinds = ['checks', 'review', 'comments', 'conflict'] as const;
/** See {@link followUpKinds}. */
export type FollowUpKind = (typeof followUpKinds)[number];

/**
 * The states of a follow-up. `pending`: waits for more comments. `suggested`: waits for a person. `capped`: a limit stopped
 * it. `skipped`: the session takes no messages, or the pull request is over.
 */
export const followUpStates = ['pending', 'suggested', 'sent', 'dismissed', 'capped', 'skipped'] as const;
/** See {@link followUpStates}. */
export type FollowUpState = (typeof followUpStates)[number];

/** The limits that stop the follow-ups of a pull request. */
export const followUpStops = ['checks', 'day'] as const;
/** See {@link followUpStops}. */
export type FollowUpStop = (typeof followUpStops)[number];

/** Maximum number of follow-ups of checks in a chain of failures. */
export const maxChain = 3;
/** Maximum number of follow-ups of a pull request that are sent in 24 hours without a person. */
export const maxPerDay = 10;

/** A follow-up that a read of a pull request found. */
export interface FoundFollowUp {
  readonly key: string;
  readonly kind: FollowUpKind;
  readonly summary: string;
  readonly body: string;
  /** The comments that it has, as `commentKey` names them. */
  readonly commentIds: readonly string[];
}

/** The fields of a follow-up that APIs show and decisions need: all but its message. */
export const followUpFields = [
  'id',
  'sessionId',
  'url',
  'key',
  'kind',
  'state',
  'summary',
  'createdAt',
  'settledAt',
] as const;

/** A follow-up without its message. */
export type FollowUp = Narrowed<
  'FollowUp',
  (typeof followUpFields)[number],
  { readonly kind: FollowUpKind; readonly state: FollowUpState }
>;

/** The columns of a {@link FollowUp} of a `follow_up` aliased `f`. */
export const followUpColumns = selectFields('FollowUp', 'f', followUpFields);

/** A follow-up that is written and waits for a decision. */
export interface UnsettledFollowUp {
  readonly id: string;
  readonly url: string;
  readonly key: string;
  readonly kind: FollowUpKind;
  readonly summary: string;
  readonly body: string;
}

/** The facts about a session's pull request that decide about its follow-ups. */
export interface PullRequestFacts {
  /** The own setting of the pull request; null: none. */
  readonly own: FollowUpMode | null;
  readonly mode: FollowUpMode;
  readonly stop: FollowUpStop | null;
  readonly resumedAt: Date | null;
  readonly checksPassedAt: Date | null;
}
