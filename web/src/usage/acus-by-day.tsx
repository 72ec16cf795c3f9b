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
  readonly costUsd?: number;
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
  const costs = new Map(used.map(({ date, costUsd = 0 }) => [date, costUsd]));
  const hasCost = used.some(({ costUsd = 0 }) => costUsd > 0);
  const earlier = daysBefore(days);
  const daysEarlier = daysBetween(earlier.from, earlier.to);
  const points = daysBetween(days.from, days.to).map((day, index) => {
    const dayBefore = daysEarlier[index];
    return {
      key: day,
      label: writeDay(day),
      short: writeDay(day, 'short'),
      value: now.get(day) ?? 0,
      costUsd: costs.get(day) ?? 0,
      before: before && dayBefore ? { label: writeDay(dayBefore), value: previous.get(dayBefore) ?? 0 } : null,
    };
  });
  const addressOf = (day: string) => shownAddress(search, { day });
  return (
    <Figure
      title={texts.acusByDay}
      isWide
      isNewestFirst
      heads={[texts.day, texts.acus, ...(hasCost ? [texts.cost] : []), ...(before ? [texts.acusBefore] : [])]}
      moneyHead={texts.cost}
      file={file}
      rows={points.map(({ key, label, value, costUsd, before: earlierDay }) => ({
        key,
        label,
        csvLabel: key,
        values: [value, ...(hasCost ? [costUsd] : []), ...(earlierDay ? [earlierDay.value] : [])],
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
