/** A setting of git and its value. */
export type GitSetting = readonly [name: string, value: string];

/**
 * Appends settings to the configuration that variables give to git (`GIT_CONFIG_COUNT` and the following). They override
 * all configuration files. Returns the new variables only.
 */
export function appendGitConfig(
  base: Readonly<Record<string, string>>,
  settings: readonly GitSetting[],
): Record<string, string> {
  const count = Number(base.GIT_CONFIG_COUNT ?? 0);
  const from = Number.isSafeInteger(count) && count > 0 ? count : 0;
  const numbered = settings.flatMap(([name, value], n) => [
    [`GIT_CONFIG_KEY_${from + n}`, name],
    [`GIT_CONFIG_VALUE_${from + n}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(from + settings.length), ...Object.fromEntries(numbered) };
}
