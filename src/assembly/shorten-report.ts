import type { AgentReport } from '../agents/check/report.ts';

/** Maximum length of a text, and number of items of a list, in a report that is stored. */
const maxCharacters = 500;
const maxItems = 100;

/** Masks secrets in the texts of a report, which an agent may have filled. */
export function maskReport(report: AgentReport, mask: (text: string) => string): AgentReport {
  return change(report, { text: mask, list: (items) => items }) as AgentReport;
}

/** Shortens the texts and lists of a report, and masks secrets in them. */
export function shortenReport(report: AgentReport, mask: (text: string) => string): AgentReport {
  return change(report, {
    // PostgreSQL stores no NUL character.
    text: (text) => mask(text).replaceAll('\0', '').slice(0, maxCharacters).toWellFormed(),
    list: (items) => items.slice(0, maxItems),
  }) as AgentReport;
}

interface Changes {
  readonly text: (text: string) => string;
  readonly list: (items: readonly unknown[]) => readonly unknown[];
}

function change(value: unknown, changes: Changes): unknown {
  if (typeof value === 'string') return changes.text(value);
  if (Array.isArray(value)) return changes.list(value).map((each) => change(each, changes));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each, changes)]));
}
