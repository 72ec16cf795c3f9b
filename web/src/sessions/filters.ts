import { useMemo } from 'react';
import { useUrlParams } from '../layout/use-url-params.ts';
import { common } from '../texts/common.ts';
import { filters as texts } from '../texts/sessions.ts';
import { status } from '../texts/ui.ts';
import { dayAfter, dayBefore, isDay } from '../usage/days.ts';

/** Outcomes as Usage counts them, with their conditions. `FINISHED` includes sessions whose end has no reason. */
const outcomes = {
  OPEN: { not: { status: ['EXIT', 'ERROR'] } },
  FINISHED: { status: ['EXIT'], not: { endReason: ['TERMINATED', 'EXPIRED'] } },
  TERMINATED: { status: ['EXIT'], endReason: ['TERMINATED'] },
  EXPIRED: { status: ['EXIT'], endReason: ['EXPIRED'] },
  FAILED: { status: ['ERROR'] },
} as const;

/** States as users search for them, in the words of the badges, with their conditions. */
export const stateGroups = {
  attention: { label: status.needsYou, filter: { group: ['NEEDS_YOU'] } },
  queued: { label: texts.queued, filter: { status: ['NEW', 'RESUMING'] } },
  active: { label: texts.working, filter: { group: ['WORKING'], not: { status: ['NEW', 'RESUMING'] } } },
  suspended: { label: texts.suspended, filter: { status: ['SUSPENDED'] } },
  finished: { label: status.finished, filter: outcomes.FINISHED },
  terminated: { label: status.terminated, filter: outcomes.TERMINATED },
  expired: { label: status.expired, filter: outcomes.EXPIRED },
  failed: { label: common.failed, filter: outcomes.FAILED },
} as const;

/** Labels of session origins. */
export const origins = common.origins;

/** Labels of the states of pull requests. */
export const pullRequestStates = texts.pullRequestStates;

/** Periods up to now in which sessions were created, in days of the browser's time zone that include today. */
export const createdPeriods = {
  today: { label: texts.createdPeriods.today, days: 1 },
  'last-7': { label: texts.createdPeriods.last7, days: 7 },
  'last-30': { label: texts.createdPeriods.last30, days: 30 },
} as const;

const names = [
  'q',
  // `transcripts`: `q` is searched in titles and transcripts, not in titles alone.
  'in',
  'state',
  'origin',
  'tag',
  'playbook',
  'repository',
  'pr',
  'by',
  'archived',
  // A period up to now in which the session was created; or else the first and last day (UTC).
  'created',
  'from',
  'to',
  // From Usage only.
  'outcome',
  // The name of a saved view whose conditions the other parameters cannot express.
  'view',
] as const;

/** The filters of the list: query parameters, so that a list can be linked to. */
export type Filters = Readonly<Record<(typeof names)[number], string>>;

const noFilters = Object.fromEntries(names.map((name) => [name, ''])) as Filters;

/** Makes filters of query parameters, or of those of a saved filter. Unknown values are ignored. */
function readFilters(values: Partial<Filters>): Filters {
  const known = { ...noFilters, ...values };
  return {
    ...known,
    state: Object.hasOwn(stateGroups, known.state) ? known.state : '',
    origin: Object.hasOwn(origins, known.origin) ? known.origin : '',
    in: known.in === 'transcripts' ? known.in : '',
    pr: Object.hasOwn(pullRequestStates, known.pr) ? known.pr : '',
    created: Object.hasOwn(createdPeriods, known.created) ? known.created : '',
    from: isDay(known.from) ? known.from : '',
    to: isDay(known.to) ? known.to : '',
    outcome: Object.hasOwn(outcomes, known.outcome) ? known.outcome : '',
  };
}

/** Returns true if the filters show archived sessions, all of them. */
export const isArchive = (filters: Filters): boolean =>
  filters.archived === 'yes' && names.every((name) => name === 'archived' || filters[name] === '');

/** The filter of the URL, as query parameters and as the service takes it. */
export function useFilters() {
  const { values, isAny: isNarrowed, change, clear } = useUrlParams(names);
  const filters = useMemo(() => readFilters(values), [values]);
  const filter = useMemo(() => toFilter(filters), [filters]);
  return { filters, filter, change, clear, isNarrowed };
}

function toFilter(filters: Filters) {
  const { q, state, origin, tag, playbook, repository, pr, by, archived, created, from, to, outcome, view } = filters;
  const conditions = [
    ...(state ? [stateGroups[state as keyof typeof stateGroups].filter] : []),
    ...(outcome ? [outcomes[outcome as keyof typeof outcomes]] : []),
  ];
  return {
    ...(archived === 'all' || (view && archived === '') ? {} : { isArchived: archived !== '' }),
    // A search in transcripts is a query of its own.
    ...(q && filters.in === '' ? { search: q } : {}),
    ...(origin ? { origin: [origin as keyof typeof origins] } : {}),
    ...(tag ? { tags: [tag] } : {}),
    ...(playbook ? { playbookId: playbook } : {}),
    ...(repository ? { repositories: [repository] } : {}),
    ...(pr ? { pullRequestStates: [pr as keyof typeof pullRequestStates] } : {}),
    ...(by ? { createdByIds: [by] } : {}),
    ...(created && !from && !to ? { createdAfter: startOf(created as keyof typeof createdPeriods) } : {}),
    ...(from ? { createdAfter: `${from}T00:00:00Z` } : {}),
    ...(to ? { createdBefore: `${dayAfter(to)}T00:00:00Z` } : {}),
    ...(conditions.length > 0 ? { and: conditions } : {}),
  };
}

/** The midnight, in the browser's time zone, at which a period begins. */
function startOf(period: keyof typeof createdPeriods): string {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1 - createdPeriods[period].days).toISOString();
}

/** The return type of {@link toFilter}. */
export type Filter = ReturnType<typeof toFilter>;

/** Returns the query parameters of the list with a saved filter; null if the filter has conditions that the list cannot show. */
export function paramsOf(saved: unknown): string | null {
  const filter = saved as Partial<Filter>;
  const and = filter.and ?? [];
  const nameIn = (choices: Readonly<Record<string, unknown>>) =>
    Object.keys(choices).find((name) => and.some((each) => isSameJson(each, choices[name]))) ?? '';
  const conditions = Object.fromEntries(Object.entries(stateGroups).map(([name, group]) => [name, group.filter]));
  const state = nameIn(conditions);
  const filters = readFilters({
    q: filter.search ?? '',
    state,
    // A condition that is both a state and an outcome is shown as a state.
    outcome: and.length > 1 || state === '' ? nameIn(outcomes) : '',
    origin: filter.origin?.[0] ?? '',
    tag: filter.tags?.[0] ?? '',
    playbook: filter.playbookId ?? '',
    repository: filter.repositories?.[0] ?? '',
    pr: filter.pullRequestStates?.[0] ?? '',
    by: filter.createdByIds?.[0] ?? '',
    archived: filter.isArchived === undefined ? 'all' : filter.isArchived ? 'yes' : '',
    from: filter.createdAfter?.slice(0, 10) ?? '',
    to: filter.createdBefore ? dayBefore(filter.createdBefore.slice(0, 10)) : '',
  });
  if (!isSameJson(toFilter(filters), saved)) return null;
  return new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
}

/** Compares two JSON values; the order of keys does not matter. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === others.length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameJson(one[key as never], other[key as never]))
  );
}
