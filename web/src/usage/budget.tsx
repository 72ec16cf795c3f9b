import { usageBudget as texts, usageFigures } from '../texts/usage.ts';
import { writeNumber, writePercent } from '../ui/number.ts';
import { daysBetween, endOfMonth, thisMonth, writeDay } from './days.ts';
import { Figure } from './figure.tsx';
import { TimeChart } from './time-chart.tsx';

interface BudgetProps {
  /** The limit of the cycle in ACUs. */
  readonly limit: number;
  /** The consumption since the start of the month. */
  readonly days: readonly { readonly date: string; readonly acus: number }[];
}

/** The running total of the current cycle, a calendar month in UTC, with its limit as a line. */
export function Budget({ limit, days }: BudgetProps) {
  const { from, to } = thisMonth();
  const byDay = new Map(days.map(({ date, acus }) => [date, acus]));
  let sum = 0;
  const points = daysBetween(from, endOfMonth(from)).map((day) => {
    sum += byDay.get(day) ?? 0;
    return {
      key: day,
      label: writeDay(day),
      short: writeDay(day, 'short'),
      value: day > to ? null : sum,
    };
  });
  const title = texts.title({ month: writeDay(from, 'month') });
  const isSpent = sum >= limit;
  const shares = {
    used: writeNumber(sum),
    limit: writeNumber(limit),
    percent: limit === 0 ? writePercent(1) : writePercent(sum / limit),
  };
  return (
    <Figure
      title={title}
      isWide
      file={`acu-budget-${from.slice(0, 7)}`}
      heads={[usageFigures.day, texts.usedSoFar]}
      rows={points.flatMap(({ key, label, value }) =>
        value === null ? [] : [{ key, label, csvLabel: key, values: [value] }],
      )}
      note={
        <>
          {texts.used(shares)} {isSpent && <strong>{texts.spent}</strong>}
        </>
      }
    >
      <TimeChart
        kind="line"
        label={title}
        points={points}
        limit={{ value: limit, label: texts.limit({ limit: writeNumber(limit) }) }}
      />
    </Figure>
  );
}
