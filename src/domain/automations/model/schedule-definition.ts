/** How a schedule repeats. */
export const scheduleTypes = ['recurring', 'one_time'] as const;
/** Which agent a schedule asks for. Only the first is here; the other is kept and does the same. */
export const scheduleAgents = ['standard', 'data_analyst'] as const;
/** When a schedule tells of its runs. */
export const scheduleNotices = ['always', 'failure', 'never'] as const;

/** What a schedule has beside its name and being enabled. An automation's triggers and actions are made from it. */
export interface ScheduleDefinition {
  readonly scheduleType: (typeof scheduleTypes)[number];
  /** Five fields of cron, in UTC; null: it happens once. */
  readonly frequency: string | null;
  /** Every which day, week, month or year of the frequency counts. */
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
  /** The session that gets the prompt as a message, instead of a new one. */
  readonly targetSessionId: string | null;
  readonly slackChannelId: string | null;
  readonly slackTeamId: string | null;
}
