import type { MissingPart, MissingReason } from '../../checkpoints/driver.ts';

/** Maximum number of parts that a text names. */
const maxNamed = 20;
/** Maximum length of a name in a text. */
const maxNameLength = 200;

/** The reasons for missing parts, for people and agents. */
export const missingReasons: Readonly<Record<MissingReason, string>> = {
  UNREADABLE: 'not readable for the service',
  CHANGING: 'changed while it was read',
  TOO_LARGE: 'beyond the size limit',
  SPECIAL: 'a pipe or a device',
};

/**
 * Lists the parts of a workspace that a checkpoint lacks, for people and agents: at most twenty with their reasons, and the
 * number of the others. Null: none is missing. Names come from agents: they are quoted, and cut off if they are long.
 */
export function missingText(missing: readonly MissingPart[]): string | null {
  if (missing.length === 0) return null;
  const lines = missing.slice(0, maxNamed).map(({ path, reason, files }) => {
    const name = JSON.stringify(path.length > maxNameLength ? `${path.slice(0, maxNameLength)}…` : path);
    return `- ${name}${files > 1 ? ` (${files} files)` : ''}: ${missingReasons[reason]}`;
  });
  const others = missing.length - lines.length;
  return [...lines, ...(others > 0 ? [`- and ${others} more`] : [])].join('\n');
}
