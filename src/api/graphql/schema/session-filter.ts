import type { ArgBuilder, InputShapeFromFields } from '@pothos/core';
import {
  countFilter,
  maxFilterConditions,
  maxFilterDepth,
  maxFilters,
  type SessionConditions,
  type SessionFilter,
} from '../../../domain/sessions/session-filter.ts';
import type { SessionOrder } from '../../../domain/sessions/session-orders.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import {
  OrderDirectionEnum,
  SessionEndReasonEnum,
  SessionGroupEnum,
  SessionOrderFieldEnum,
  SessionOriginEnum,
  SessionStatusDetailEnum,
  SessionStatusEnum,
} from './enums.ts';
import { pullRequestState } from './event-enums.ts';
import { maxFilterValues, readCreators, readId, readIds, requireShortLists } from './list-inputs.ts';

type Maybe<T> = T | null | undefined;

/**
 * The conditions of a filter; ids in any form. A condition with the name and the type of the domain's needs no line in {@link
 * parseSessionFilter}.
 */
const conditionFields = (t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>) => ({
  ids: t.idList({
    description: 'Only sessions with these global IDs or REST ids, including unlisted sessions.',
  }),
  organizationIds: t.idList({
    description:
      'Only sessions of the organizations with these global IDs or REST ids. For lists that span several organizations.',
  }),
  status: t.field({ type: [SessionStatusEnum], description: 'Only sessions in one of these statuses.' }),
  statusDetail: t.field({
    type: [SessionStatusDetailEnum],
    description:
      'Only sessions with one of these status details. Sessions with WAITING_FOR_USER and WAITING_FOR_APPROVAL wait for an answer.',
  }),
  group: t.field({ type: [SessionGroupEnum], description: 'Only sessions in one of these groups of an inbox.' }),
  endReason: t.field({
    type: [SessionEndReasonEnum],
    description: 'Only sessions that ended for one of these reasons. A session that has not ended never matches.',
  }),
  tags: t.stringList({ description: 'Only sessions that have at least one of these tags.' }),
  allTags: t.stringList({
    description:
      'Only sessions that have all of these tags. The first tag is looked up in an index, so put the rarest tag first.',
  }),
  repositories: t.stringList({
    description:
      'Only sessions that work on at least one of these repositories, each as `owner/name` or `host/owner/name`, regardless of case.',
  }),
  pullRequestStates: t.field({
    type: [pullRequestState.type],
    description: 'Only sessions that have a pull request in at least one of these states.',
  }),
  isArchived: t.boolean({
    description: 'True for only archived sessions, false for only sessions that are not archived. Both if omitted.',
  }),
  isUnlisted: t.boolean({
    description:
      'True for only unlisted sessions, false for only listed ones. Unlisted sessions include those that the viewer started and those of organizations where it holds `MANAGE_ORG_SESSIONS`. Defaults to listed sessions only.',
  }),
  isUnread: t.boolean({
    description:
      'True for only sessions that are unread for the viewer, false for all others. Not for subscriptions. FORBIDDEN, without a permission, for service keys.',
  }),
  isPinned: t.boolean({
    description:
      'True for only sessions that the viewer pinned, false for all others. Not for subscriptions. FORBIDDEN, without a permission, for service keys.',
  }),
  origin: t.field({
    type: [SessionOriginEnum],
    description: 'Only sessions that were started from one of these origins.',
  }),
  playbookId: t.id({ description: 'Only sessions that follow the playbook with this global ID or REST id.' }),
  automationId: t.id({ description: 'Only sessions that the automation with this global ID or REST id started.' }),
  parentId: t.id({ description: 'Only sessions that the session with this global ID or REST id started.' }),
  hasParent: t.boolean({
    description: 'True for only sessions that another session started, false for only other sessions. Both if omitted.',
  }),
  createdByIds: t.idList({
    description: 'Only sessions that one of these users, service users or service keys started.',
  }),
  createdAfter: t.field({ type: 'DateTime', description: 'Only sessions that were started at this time or later.' }),
  createdBefore: t.field({ type: 'DateTime', description: 'Only sessions that were started before this time.' }),
  updatedAfter: t.field({
    type: 'DateTime',
    description: 'Only sessions that last changed their status or messages at this time or later.',
  }),
  updatedBefore: t.field({
    type: 'DateTime',
    description: 'Only sessions that last changed their status or messages before this time.',
  }),
  search: t.string({
    description:
      'Only sessions with a title that contains every word of this text, in any order and regardless of case. A word also matches inside longer words.',
  }),
});

/** A filter as resolvers receive it: ids in any form. */
export interface SessionFilterValue extends InputShapeFromFields<ReturnType<typeof conditionFields>> {
  readonly and?: Maybe<readonly SessionFilterValue[]>;
  readonly or?: Maybe<readonly SessionFilterValue[]>;
  readonly not?: Maybe<SessionFilterValue>;
}

/** The input SessionFilter, which all lists of sessions, bulk mutations and subscriptions take. */
export const SessionFilterInput = builder.inputRef<SessionFilterValue>('SessionFilter');
SessionFilterInput.implement({
  description: `Filter for sessions. A session must match every field that is set; a list field matches if any one of its values does, except \`allTags\` and \`and\`. A list has at most ${maxFilterValues} values. Filters can be combined by \`and\`, \`or\` and \`not\`, up to ${maxFilterDepth} levels deep, with at most ${maxFilterConditions} conditions and ${maxFilters} filters inside in all; otherwise the error is INVALID_INPUT.`,
  fields: (t) => ({
    ...conditionFields(t),
    and: t.field({
      type: [SessionFilterInput],
      description: 'Filters that must all match in addition to the other fields.',
    }),
    or: t.field({
      type: [SessionFilterInput],
      description:
        'Filters of which at least one must match in addition to the other fields. An empty list matches no session.',
    }),
    not: t.field({ type: SessionFilterInput, description: 'Filter that a session must not match.' }),
  }),
});

export const SessionOrderInput = builder.inputType('SessionOrder', {
  description: 'Order of a list of sessions.',
  fields: (t) => ({
    field: t.field({
      type: SessionOrderFieldEnum,
      required: true,
      description: 'Time by which the sessions are ordered.',
    }),
    direction: t.field({
      type: OrderDirectionEnum,
      required: true,
      description: 'Direction of the order: oldest or newest first.',
    }),
  }),
});

/** The arguments of every list of sessions besides those of its page. */
export const sessionListArgs = (t: ArgBuilder<SchemaTypes>) => ({
  filter: t({
    type: SessionFilterInput,
    description: 'Filter for the sessions to list. All sessions except unlisted ones if omitted.',
  }),
  orderBy: t({
    type: SessionOrderInput,
    description: 'Order of the list. Defaults to newest first, by creation time.',
  }),
});

/** The values of {@link sessionListArgs}. */
export interface SessionListArgs {
  readonly filter?: Maybe<SessionFilterValue>;
  readonly orderBy?: Maybe<SessionOrder>;
}

/**
 * Converts a filter to the domain's form. INVALID_INPUT, with the path below `at`, for a list that is too long or for
 * too many filters.
 */
export function parseSessionFilter(
  filter: Maybe<SessionFilterValue>,
  at: readonly string[] = ['filter'],
  count = { filters: 0 },
): SessionFilter {
  if (!filter) return {};
  countFilter(count, at);
  requireShortLists(filter, at);
  const within = (inner: Maybe<SessionFilterValue>, ...path: string[]) =>
    parseSessionFilter(inner, [...at, ...path], count);
  const { ids, organizationIds, playbookId, automationId, parentId, createdByIds, ...withoutIds } = filter;
  const { endReason, allTags, origin, search, and, or, not, ...others } = withoutIds;
  const automation = readId('automation', automationId);
  return {
    ...sameConditions(others),
    sessionIds: readIds('session', ids),
    organizationIds: readIds('organization', organizationIds),
    endReasons: endReason ?? undefined,
    // An empty list is no condition.
    allTags: allTags?.length ? allTags : undefined,
    origins: origin ?? undefined,
    playbookId: readId('playbook', playbookId),
    automationIds: automation === undefined ? undefined : [automation],
    parentId: readId('session', parentId),
    createdBy: readCreators(createdByIds),
    // Every title contains the empty text.
    search: search || undefined,
    and: and?.map((inner, n) => within(inner, 'and', String(n))),
    or: or?.map((inner, n) => within(inner, 'or', String(n))),
    not: not ? within(not, 'not') : undefined,
  };
}

type SameConditions<T> = {
  readonly [K in keyof T]: K extends keyof SessionConditions ? Maybe<SessionConditions[K]> : never;
};

/** Returns conditions with the names and the types of the domain's, without nulls: null equals a missing value. */
function sameConditions<T extends SameConditions<T>>(conditions: T): SessionConditions {
  return Object.fromEntries(Object.entries(conditions).filter(([, value]) => value != null));
}
