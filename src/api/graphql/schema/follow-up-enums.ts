import { type FollowUpKind, type FollowUpStop, maxChain, maxPerDay } from '../../../domain/follow-ups/follow-up.ts';
import type { FollowUpAuthors, FollowUpBots, FollowUpMode } from '../../../domain/repositories/follow-up-settings.ts';
import { defineEnum, storedEnum } from './define-enum.ts';

/** The enum of {@link FollowUpMode}. */
export const FollowUpModeEnum = defineEnum<FollowUpMode>(
  'FollowUpMode',
  'The way in which follow-ups of a pull request reach its session.',
  {
    off: 'The session gets no follow-ups.',
    suggest: 'The session gets a follow-up when a person sends it.',
    auto: 'The session gets follow-ups by themselves.',
  },
);

/** The enum of {@link FollowUpAuthors}. */
export const FollowUpAuthorsEnum = defineEnum<FollowUpAuthors>(
  'FollowUpAuthors',
  'The people whose reviews and comments reach sessions.',
  {
    writers: 'People who may write to the repository at its forge.',
    everyone: 'Everyone who may comment: on a public repository, anybody can write to the agent.',
  },
);

/** The enum of {@link FollowUpBots}. */
export const FollowUpBotsEnum = defineEnum<FollowUpBots>(
  'FollowUpBots',
  'The bots whose reviews and comments reach sessions, besides those that are listed by their logins.',
  { none: 'Texts of no other bots count.', all: 'The texts of all bots count.' },
);

/** The enum of {@link FollowUpKind}, which log entries store. */
export const followUpKind = storedEnum('FollowUpKind', 'The occasion of a follow-up.', {
  checks: 'Checks of the head commit failed, and none is queued or running.',
  review: 'A review with its comments was submitted.',
  comments: 'Comments that belong to no review were written.',
  conflict: 'The pull request conflicts with its base.',
} satisfies Record<FollowUpKind, string>);

/** The enum of {@link FollowUpStop}. */
export const FollowUpStopEnum = defineEnum<FollowUpStop>(
  'FollowUpStop',
  'The limit that stopped the follow-ups of a pull request until a person continues them.',
  {
    checks: `Checks failed again after ${maxChain} follow-ups in a row.`,
    day: `The session got ${maxPerDay} follow-ups of the pull request in 24 hours.`,
  },
);
