/** The names of the settings of pushes, as the APIs and the stored settings of a repository have them. */
export const pushSettingNames = ['isPushToOtherBranchesAllowed', 'isPushOfTagsAllowed', 'isDeletionAllowed'] as const;

/** The refs besides a session's own branch that it may change in a repository. */
export type PushSettings = { readonly [Name in (typeof pushSettingNames)[number]]: boolean };

/** Reads the stored settings of a repository, if it has any. Only `true` allows anything. */
export function readPushSettings(stored: unknown): PushSettings {
  const values: Readonly<Record<string, unknown>> = stored !== null && typeof stored === 'object' ? { ...stored } : {};
  return {
    isPushToOtherBranchesAllowed: values.isPushToOtherBranchesAllowed === true,
    isPushOfTagsAllowed: values.isPushOfTagsAllowed === true,
    isDeletionAllowed: values.isDeletionAllowed === true,
  };
}
