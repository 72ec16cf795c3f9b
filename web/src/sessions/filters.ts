import { useMemo } from 'react';
import { useUrlParams } from '../layout/use-url-params.ts';
import { common } from '../texts/common.ts';
import { filters as texts } from '../texts/sessions.ts';
import { dayAfter, isDay } from '../usage/days.ts';

/** States as users search for them, in the words of the badges, with their conditions. */
export const stateGroups = {
  attention: { label: texts.needsYou, filter: { group: ['NEEDS_YOU'] } },
  queued: { label: texts.queued, filter: { status: ['NEW', 'RESUMING'] } },
  active: { label: texts.working, filter: { group: ['WORKING'], not: { status: ['NEW', 'RESUMING'] } } },
  suspended: { label: texts.suspended, filter: { status: ['SUSPENDED'] } },
  finished: { label: texts.ended, filter: { status: ['EXIT'] } },
  failed: { label: common.failed, filter: { status: ['ERROR'] } },
} as const;

/** Labels of session origins. */
export const origins = common.origins;

/** Labels of the states of pull requests. */
export const pullRequestStates = texts.pullRequestStates;

/** Outcomes as Usage counts them, with their conditions. `FINISHED` includes sessions whose end has no reason. */
const outcomes = {
  OPEN: { not: { status: ['EXIT', 'ERROR'] } },
  FINISHED: { status: ['EXIT'], not: { endReason: ['TERMINATED', 'EXPIRED'] } },
  TERMINATED: { status: ['EXIT'], endReason: ['TERMINATED'] },
  EXPIRED: { status: ['EXIT'], endReason: ['EXPIRED'] },
  FAILED: { status: ['ERROR'] },
} as const;

const names = [
  'q',
  'state',
  'origin',
  'tag',
  'playbook',
  'repository',
  'pr',
  'by',
  'archived',
  // From Usage only: the first and last day (UTC) of the start, and the outcome.
  'from',
  'to',
  'outcome',
] as const;

/** The filters of the list: query parameters, so that a list can be linked to. */
export type Filters = Readonly<Record<(typeof names)[number], string>>;

/** The filter of the URL, as query parameters and as the service takes it. */
export function useFilters() {
  const { values, isAny: isNarrowed, change, clear } = useUrlParams(names);
  const filters = useMemo<Filters>(
    () => ({
      ...values,
      // Unknown values are ignored.
      state: Object.hasOwn(stateGroups, values.state) ? values.state : '',
      origin: Object.hasOwn(origins, values.origin) ? values.origin : '',
      pr: Object.hasOwn(pullRequestStates, values.pr) ? values.pr : '',
      from: isDay(values.from) ? values.from : '',
      to: isDay(values.to) ? values.to : '',
      outcome: Object.hasOwn(outcomes, values.outcome) ? values.outcome : '',
    }),
    [values],
  );
  const filter = useMemo(() => toFilter(filters), [filters]);
  return { filters, filter, change, clear, isNarrowed };
}

function toFilter(filters: Filters) {
  const { q, state, origin, tag, playbook, repository, pr, by, archived, from, to, outcome } = filters;
  const conditions = [
    ...(state ? [stateGroups[state as keyof typeof stateGroups].filter] : []),
    ...(outcome ? [outcomes[outcome as keyof typeof outcomes]] : []),
  ];
  return {
    ...(archived === 'all' ? {} : { isArchived: archived !== '' }),
    ...(q ? { search: q } : {}),
    ...(origin ? { origin: [origin as keyof typeof origins] } : {}),
    ...(tag ? { tags: [tag] } : {}),
    ...(playbook ? { playbookId: playbook } : {}),
    ...(repository ? { repositories: [repository] } : {}),
    ...(pr ? { pullRequestStates: [pr as keyof typeof pullRequestStates] } : {}),
    ...(by ? { createdByIds: [by] } : {}),
    ...(from ? { createdAfter: `${from}T00:00:00Z` } : {}),
    ...(to ? { createdBefore: `${dayAfter(to)}T00:00:00Z` } : {}),
    ...(conditions.length > 0 ? { and: conditions } : {}),
  };
}

/** The return type of {@link toFilter}. */
export type Filter = ReturnType<typeof toFilter>;
