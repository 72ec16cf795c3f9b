/** The settings of a repository for mentions of the service. */
export interface MentionSettings {
  /** False: nobody can start a session by a mention. */
  readonly isMentionAnswered: boolean;
  /** Unprefixed id of the organization that mentions reach; null: the only one that may use the repository. */
  readonly mentionOrganizationId: string | null;
}

/** Reads the stored settings of a repository, if it has any. */
export function readMentionSettings(stored: unknown): MentionSettings {
  const values: Readonly<Record<string, unknown>> = stored !== null && typeof stored === 'object' ? { ...stored } : {};
  const { mentionOrganizationId: id } = values;
  return {
    isMentionAnswered: values.isMentionAnswered !== false,
    mentionOrganizationId: typeof id === 'string' ? id : null,
  };
}
