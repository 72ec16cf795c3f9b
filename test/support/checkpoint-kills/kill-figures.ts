import type { MoveReport } from './followed-sessions.ts';

/** Returns the value below which a part of the values are; NaN: there are none. */
export function percentile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(part * values.length) - 1)] ?? Number.NaN;
}

/** Returns the figures of a report on one line, which begins with the time and `what`; times are p50 / p95 / maximum in seconds. */
export function describeReport({ outcomes, problems, notes }: MoveReport, what: string): string {
  const spread = (values: readonly (number | null)[]) => {
    const known = values.filter((value) => value !== null);
    return [0.5, 0.95, 1].map((part) => (percentile(known, part) / 1_000).toFixed(2)).join(' / ');
  };
  return [
    `${new Date().toISOString().slice(11, 19)} ${what}, ${outcomes.length} sessions moved`,
    `lost work ${spread(outcomes.map(({ files }) => files.ageMs))}`,
    `of ignored files ${spread(outcomes.map(({ ignored }) => ignored.ageMs))}`,
    `without an agent ${spread(outcomes.map(({ awayMs }) => awayMs))}`,
    `claim to agent ${spread(outcomes.map(({ restoreMs }) => restoreMs))}`,
    `${problems.length} problems`,
    ...[...notes].map(([text, count]) => `${count} × ${text.slice(0, 80)}`),
  ].join('; ');
}
