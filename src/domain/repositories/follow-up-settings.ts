/** The ways in which follow-ups of a pull request reach its session: not at all, when a person sends them, or by themselves. */
export const followUpModes = ['off', 'suggest', 'auto'] as const;
/** See {@link followUpModes}. */
export type FollowUpMode = (typeof followUpModes)[number];

/** The people whose reviews and comments count: those who may write to the repository, or everyone who may comment. */
export const followUpAuthors = ['writers', 'everyone'] as const;
/** See {@link followUpAuthors}. */
export type FollowUpAuthors = (typeof followUpAuthors)[number];

/** The bots whose reviews and comments count besides those in the list of logins. */
export const followUpBots = ['none', 'all'] as const;
/** See {@link followUpBots}. */
export type FollowUpBots = (typeof followUpBots)[number];

/** The settings of a repository for the pull requests of sessions. */
export interface FollowUpSettings {
  /** Null: `auto` for a pull request that the service opened, `suggest` for others. */
  readonly followUpMode: FollowUpMode | null;
  readonly followUpAuthors: FollowUpAuthors;
  readonly followUpBots: FollowUpBots;
  /** Logins of accounts that count in any case. */
  readonly followUpBotLogins: readonly string[];
  /** True: a session is archived once all its pull requests are merged or closed. */
  readonly isArchivedWhenMerged: boolean;
}

/** Reads the stored settings of a repository, if it has any. Unknown values are the defaults, which allow the least. */
export function readFollowUpSettings(stored: unknown): FollowUpSettings {
  const values: Readonly<Record<string, unknown>> = stored !== null && typeof stored === 'object' ? { ...stored } : {};
  const logins = Array.isArray(values.followUpBotLogins) ? values.followUpBotLogins : [];
  return {
    followUpMode: followUpModes.find((mode) => mode === values.followUpMode) ?? null,
    followUpAuthors: followUpAuthors.find((authors) => authors === values.followUpAuthors) ?? 'writers',
    followUpBots: followUpBots.find((bots) => bots === values.followUpBots) ?? 'none',
    followUpBotLogins: logins.filter((login) => typeof login === 'string'),
    isArchivedWhenMerged: values.isArchivedWhenMerged === true,
  };
}

/** The facts about a session's pull request that decide about its mode without a setting of its own. */
export interface PullRequestOrigin {
  readonly isOpenedByService: boolean;
  /** The session was started to review it. */
  readonly isReviewed: boolean;
}

/**
 * Determines the mode of a session's pull request from its own setting and that of its repository. The setting of the repository
 * does not apply to a pull request that the session reviews: it is off.
 */
export function followUpModeOf(
  own: string | null,
  { followUpMode }: Pick<FollowUpSettings, 'followUpMode'>,
  { isOpenedByService, isReviewed }: PullRequestOrigin,
): FollowUpMode {
  const chosen = followUpModes.find((mode) => mode === own) ?? (isReviewed ? 'off' : followUpMode);
  return chosen ?? (isOpenedByService ? 'auto' : 'suggest');
}
