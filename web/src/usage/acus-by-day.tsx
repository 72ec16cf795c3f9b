import { useSearch } from 'wouter';
import { usageFigures as texts, usageFigure } from '../texts/usage.ts';
import { type Days, daysBefore, daysBetween, writeDay } from './days.ts';
import { Figure } from './figure.tsx';
import { TimeChart } from './time-chart.tsx';
import { shownAddress } from './use-usage-view.ts';

/** The consumption of a UTC day. */
export interface ConsumptionOfDay {
  readonly date: string;
  readonly acus: number;
}

interface AcusByDayProps {
  readonly days: Days;
  readonly used: readonly ConsumptionOfDay[];
  /** The consumption of the previous period; null: not compared. */
  readonly before: readonly ConsumptionOfDay[] | null;
  readonly file: string;
}

/** The consumption of each day, beside the same day of the previous period. A day leads to its sessions. In the table, the newest is first. */
export function AcusByDay({ days, used, before, file }: AcusByDayProps) {
  const search = useSearch();
  const [now, previous] = [byDate(used), byDate(before ?? [])];
  const earlier = daysBefore(days);
  const daysEarlier = daysBetween(earlier.from, earlier.to);
  const points = daysBetween(days.from, days.to).map((day, index) => {
    const dayBefore = daysEarlier[index];
    return {
      key: day,
      label: writeDay(day),
      short: writeDay(day, 'short'),
      value: now.get(day) ?? 0,
      before: before && dayBefore ? { label: writeDay(dayBefore), value: previous.get(dayBefore) ?? 0 } : null,
    };
  });
  const addressOf = (day: string) => shownAddress(search, { day });
  return (
    <Figure
      title={texts.acusByDay}
      isWide
      isNewestFirst
      heads={before ? [texts.day, texts.acus, texts.acusBefore] : [texts.day, texts.acus]}
      file={file}
      rows={points.map(({ key, label, value, before: earlierDay }) => ({
        key,
        label,
        csvLabel: key,
        values: earlierDay ? [value, earlierDay.value] : [value],
        address: addressOf(key),
      }))}
    >
      <TimeChart
        kind="columns"
        label={usageFigure.asChart({ title: texts.acusByDay })}
        points={points}
        addressOf={({ key }) => addressOf(key)}
      />
    </Figure>
  );
}

const byDate = (days: readonly ConsumptionOfDay[]) => new Map(days.map(({ date, acus }) => [date, acus]));
