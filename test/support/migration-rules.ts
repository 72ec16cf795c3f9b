import { readUnusedSince } from '../../src/store/older-versions.ts';

/** Statements that processes of the version before cannot continue after, and the safe way. */
const breaking: readonly { readonly form: RegExp; readonly advice: string }[] = [
  { form: /\bdrop\s+table\b/i, advice: 'drops a table' },
  { form: /\bdrop\s+column\b/i, advice: 'drops a column' },
  { form: /\brename\s+(?:column\s+|to\b)/i, advice: 'renames; add the new name beside the old one' },
  { form: /\bset\s+not\s+null\b/i, advice: 'requires a value that older processes do not write; give it a default' },
  { form: /\balter\s+column\s+\S+\s+(?:set\s+data\s+)?type\b/i, advice: 'changes a type; add a column beside it' },
  {
    form: /\badd\s+column\s+(?:(?!\bdefault\b|,|;)[\s\S])*\bnot\s+null\b(?:(?!\bdefault\b|,|;)[\s\S])*(?:[,;]|$)/i,
    advice: 'adds a column without a default, which older processes do not write',
  },
];

/**
 * Returns what is wrong with a migration for processes of the version before, which run while it is applied. A migration that removes
 * has a comment `-- unused since: NAME`, where NAME is an earlier migration since which nothing uses it. `earlier`: the names of all.
 */
export function findMigrationProblems(sql: string, earlier: readonly string[]): string[] {
  const since = readUnusedSince(sql);
  if (since !== null)
    return earlier.includes(since) ? [] : [`it is said to be unused since ${since}, which is no earlier migration`];
  const code = sql.replace(/--.*$/gm, '').replace(/'(?:[^']|'')*'/g, "''");
  return breaking.filter(({ form }) => form.test(code)).map(({ advice }) => advice);
}
