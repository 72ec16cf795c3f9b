/** The kinds of repetition of a schedule. */
export const scheduleTypes = ['recurring', 'one_time'] as const;
/** The agents that a schedule can select. Only the first exists; the other is stored and has the same effect. */
export const scheduleAgents = ['standard', 'data_analyst'] as const;
/** The policies on which runs a schedule reports. */
export const scheduleNotices = ['always', 'failure', 'never'] as const;

/**
 * The fields of a schedule besides its name and its enabled flag. An automation's triggers and actions are derived from
 * it.
 */
export interface ScheduleDefinition {
  readonly scheduleType: (typeof scheduleTypes)[number];
  /** A cron expression with five fields, in UTC; null: it happens once. */
  readonly frequency: string | null;
  /** The interval of the frequency: every nth day, week, month or year. */
  readonly intervalCount: number;
  /** ISO 8601; null: it recurs. */
  readonly scheduledAt: string | null;
  readonly prompt: string;
  readonly agent: (typeof scheduleAgents)[number];
  readonly notifyOn: (typeof scheduleNotices)[number];
  readonly bypassApproval: boolean;
  readonly platform: string | null;
  readonly playbookId: string | null;
  readonly tags: readonly string[] | null;
  /** The session that receives the prompt as a message, instead of a new session. */
  readonly targetSessionId: string | null;
  readonly slackChannelId: string | null;
  readonly slackTeamId: string | null;
}
