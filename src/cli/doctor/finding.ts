/** The result of one check, in words. */
export interface Finding {
  /** The name of the check, such as `database`. */
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'error';
  readonly text: string;
  /** The remedy; null: nothing has to be done. */
  readonly fix: string | null;
}

/** Returns the finding of a check that found nothing wrong. */
export const ok = (check: string, text: string): Finding => ({ check, level: 'ok', text, fix: null });

/** Returns the finding of a check that found something that may be wrong. */
export const warning = (check: string, text: string, fix: string): Finding => ({ check, level: 'warning', text, fix });

/** Returns the finding of a check that found something that does not work. */
export const failure = (check: string, text: string, fix: string): Finding => ({ check, level: 'error', text, fix });

/** Returns the message of an error as text. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns one line for each finding, with its remedy below. */
export function printFindings(findings: readonly Finding[]): string {
  const lines = findings.map(({ check, level, text, fix }) => {
    const remedy = fix === null ? '' : `\n${' '.repeat(22)}${fix}`;
    return `${level.padEnd(8)} ${check.padEnd(12)} ${text}${remedy}`;
  });
  const count = (level: Finding['level']) => {
    const { length } = findings.filter((finding) => finding.level === level);
    return `${length} ${level}${length === 1 ? '' : 's'}`;
  };
  return `${lines.join('\n')}\n\n${count('error')}, ${count('warning')}.\n`;
}
