import { useUrlParams } from '../layout/use-url-params.ts';
import { type Days, daysProblem, isDay, lastDays, thisMonth } from './days.ts';

const names = ['period', 'from', 'to', 'scope', 'compare', 'day', 'user', 'serviceUser'] as const;

/** A choice of days; `custom`: those of `from` and `to`. */
export type PeriodChoice = '7' | '30' | '90' | 'month' | 'custom';

const ranges: Readonly<Record<Exclude<PeriodChoice, 'custom'>, () => Days>> = {
  7: () => lastDays(7),
  30: () => lastDays(30),
  90: () => lastDays(90),
  month: thisMonth,
};

const isNamed = (period: string): period is keyof typeof ranges => Object.hasOwn(ranges, period);

/** The view of the page, in its URL: the days, the scope, the comparison, and the day or principal whose sessions are shown. */
export function useUsageView() {
  const { values, change } = useUrlParams(names);
  const isCustom = values.from !== '' || values.to !== '';
  const named = isNamed(values.period) ? values.period : '30';
  const period: PeriodChoice = isCustom ? 'custom' : named;
  const days: Days = isCustom ? { from: values.from, to: values.to } : ranges[named]();
  const problem = daysProblem(days.from, days.to);
  const inDays = isDay(values.day) && values.day >= days.from && values.day <= days.to;
  return {
    period,
    days,
    problem,
    scope: values.scope === 'enterprise' ? ('enterprise' as const) : ('organization' as const),
    compares: values.compare !== 'no',
    /** The subject of the list of sessions; at most one of them is set. */
    shown: {
      day: inDays ? values.day : '',
      user: inDays ? '' : values.user,
      serviceUser: inDays || values.user ? '' : values.serviceUser,
    },
    setPeriod(choice: PeriodChoice) {
      if (choice === 'custom') change({ period: '', day: '', ...days });
      else change({ period: choice === '30' ? '' : choice, from: '', to: '', day: '' });
    },
    setDays: (next: Days) => change({ period: '', day: '', ...next }),
    setScope: (scope: string) =>
      change({ scope: scope === 'enterprise' ? scope : '', day: '', user: '', serviceUser: '' }),
    setCompares: (compares: boolean) => change({ compare: compares ? '' : 'no' }),
    close: () => change({ day: '', user: '', serviceUser: '' }),
  };
}

/** The subject of the list of sessions: a UTC day, a user or a service user; empty: not. */
export interface Shown {
  readonly day: string;
  readonly user: string;
  readonly serviceUser: string;
}

/** The address of this page with the sessions of a day or a principal. `search`: the current query. */
export function shownAddress(search: string, shown: Partial<Shown>): string {
  const params = new URLSearchParams(search);
  for (const name of ['day', 'user', 'serviceUser'] as const) {
    params.delete(name);
    if (shown[name]) params.set(name, shown[name]);
  }
  return `/usage?${params}`;
}
