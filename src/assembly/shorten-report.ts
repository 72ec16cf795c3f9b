import type { AgentReport } from '../agents/check/report.ts';

/** Maximum length of a text, and number of items of a list, in a report that is stored. */
const maxCharacters = 500;
const maxItems = 100;

/** Shortens the texts and lists of a report, which an agent may have filled, and masks secrets in them. */
export function shortenReport(report: AgentReport, mask: (text: string) => string): AgentReport {
  return shorten(report, mask) as AgentReport;
}

function shorten(value: unknown, mask: (text: string) => string): unknown {
  // PostgreSQL stores no NUL character.
  if (typeof value === 'string') return mask(value).replaceAll('\0', '').slice(0, maxCharacters).toWellFormed();
  if (Array.isArray(value)) return value.slice(0, maxItems).map((each) => shorten(each, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shorten(each, mask)]));
}
