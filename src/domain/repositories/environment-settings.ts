/** The settings of a repository for its environment. */
export interface EnvironmentSettings {
  /** False: only sessions and users have the set-up run. */
  readonly isEnvironmentBuiltOnPush: boolean;
}

/** Reads the stored settings of a repository, if it has any. */
export function readEnvironmentSettings(stored: unknown): EnvironmentSettings {
  const values: Readonly<Record<string, unknown>> = stored !== null && typeof stored === 'object' ? { ...stored } : {};
  return { isEnvironmentBuiltOnPush: values.isEnvironmentBuiltOnPush !== false };
}
