import type { ArgBuilder } from '@pothos/core';
import type { SessionOrder } from '../../domain/sessions/list-sessions.ts';
import type { SessionOrigin } from '../../domain/sessions/session.ts';
import { maxFilterConditions, maxFilterDepth, type SessionFilter } from '../../domain/sessions/session-filter.ts';
import type { SessionEnd, SessionStatus, SessionStatusDetail } from '../../domain/sessions/status.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import {
  OrderDirectionEnum,
  SessionEndReasonEnum,
  SessionOrderFieldEnum,
  SessionOriginEnum,
  SessionStatusDetailEnum,
  SessionStatusEnum,
} from './enums.ts';
import { maxFilterValues, readCreators, readId, readIds, requireShortLists } from './list-inputs.ts';

type Maybe<T> = T | null | undefined;

/** A filter as resolvers get it: ids in any form. */
export interface SessionFilterValue {
  readonly ids?: Maybe<readonly string[]>;
  readonly organizationIds?: Maybe<readonly string[]>;
  readonly status?: Maybe<readonly SessionStatus[]>;
  readonly statusDetail?: Maybe<readonly SessionStatusDetail[]>;
  readonly endReason?: Maybe<readonly SessionEnd[]>;
  readonly tags?: Maybe<readonly string[]>;
  readonly allTags?: Maybe<readonly string[]>;
  readonly isArchived?: Maybe<boolean>;
  readonly isUnlisted?: Maybe<boolean>;
  readonly origin?: Maybe<readonly SessionOrigin[]>;
  readonly playbookId?: Maybe<string>;
  readonly automationId?: Maybe<string>;
  readonly parentId?: Maybe<string>;
  readonly hasParent?: Maybe<boolean>;
  readonly createdByIds?: Maybe<readonly string[]>;
  readonly createdAfter?: Maybe<Date>;
  readonly createdBefore?: Maybe<Date>;
  readonly updatedAfter?: Maybe<Date>;
  readonly updatedBefore?: Maybe<Date>;
  readonly search?: Maybe<string>;
  readonly and?: Maybe<readonly SessionFilterValue[]>;
  readonly or?: Maybe<readonly SessionFilterValue[]>;
  readonly not?: Maybe<SessionFilterValue>;
}

/** The input SessionFilter, which all lists of sessions, bulk mutations and subscriptions take. */
export const SessionFilterInput = builder.inputRef<SessionFilterValue>('SessionFilter');
SessionFilterInput.implement({
  description: `Narrows sessions: all members that are given must hold, and of a member that is a list any one value. A list has at most ${maxFilterValues} values. Filters can be combined by \`and\`, \`or\` and \`not\`, up to ${maxFilterDepth} levels deep and with at most ${maxFilterConditions} conditions in all; more is an INVALID_INPUT.`,
  fields: (t) => ({
    ids: t.idList({
      description:
        'Only these sessions, by their global IDs or any form of their ids. Unlisted ones among them are listed too.',
    }),
    organizationIds: t.idList({
      description: 'Only sessions of these organizations, for lists over several organizations.',
    }),
    status: t.field({ type: [SessionStatusEnum], description: 'Only sessions in one of these statuses.' }),
    statusDetail: t.field({
      type: [SessionStatusDetailEnum],
      description:
        'Only sessions with one of these details. WAITING_FOR_USER and WAITING_FOR_APPROVAL are those that wait for an answer.',
    }),
    endReason: t.field({
      type: [SessionEndReasonEnum],
      description: 'Only sessions that ended in one of these ways. A session that is not over matches none.',
    }),
    tags: t.stringList({ description: 'Only sessions that have at least one of these tags.' }),
    allTags: t.stringList({
      description:
        'Only sessions that have every one of these tags. The first is looked up in the index: put the rarest first.',
    }),
    isArchived: t.boolean({ description: 'Only archived sessions, or only others; both when left out.' }),
    isUnlisted: t.boolean({
      description:
        'Only unlisted sessions, or only others. Of unlisted ones the viewer gets those that it started, and those of organizations where it holds MANAGE_ORG_SESSIONS. Lists have no unlisted sessions when this is left out.',
    }),
    origin: t.field({ type: [SessionOriginEnum], description: 'Only sessions that were started from one of these.' }),
    playbookId: t.id({ description: 'Only sessions that follow this playbook.' }),
    automationId: t.id({ description: 'Only sessions that this automation started.' }),
    parentId: t.id({ description: 'Only sessions that this session started.' }),
    hasParent: t.boolean({ description: 'Only sessions that another session started, or only others.' }),
    createdByIds: t.idList({
      description: 'Only sessions that one of these users, service users or service keys started.',
    }),
    createdAfter: t.field({ type: 'DateTime', description: 'Only sessions that were started at this time or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Only sessions that were started before this time.' }),
    updatedAfter: t.field({
      type: 'DateTime',
      description: 'Only sessions whose status or messages last changed at this time or later.',
    }),
    updatedBefore: t.field({
      type: 'DateTime',
      description: 'Only sessions whose status and messages have not changed since this time.',
    }),
    search: t.string({ description: 'Only sessions whose title contains this text, upper and lower case alike.' }),
    and: t.field({ type: [SessionFilterInput], description: 'Filters that must all hold too.' }),
    or: t.field({
      type: [SessionFilterInput],
      description: 'Filters of which at least one must hold too. An empty list matches no session.',
    }),
    not: t.field({ type: SessionFilterInput, description: 'A filter that must not hold.' }),
  }),
});

/** SessionOrder of the contract. */
export const SessionOrderInput = builder.inputType('SessionOrder', {
  description: 'The order of a list of sessions; without it the newest come first.',
  fields: (t) => ({
    field: t.field({
      type: SessionOrderFieldEnum,
      required: true,
      description: 'The time that sessions are ordered by.',
    }),
    direction: t.field({ type: OrderDirectionEnum, required: true, description: 'Which end of the list comes first.' }),
  }),
});

/** The arguments of every list of sessions, beside those of its page. */
export const sessionListArgs = (t: ArgBuilder<SchemaTypes>) => ({
  filter: t({ type: SessionFilterInput, description: 'Which sessions are listed; all when left out.' }),
  orderBy: t({ type: SessionOrderInput, description: 'The order of the list; the newest first when left out.' }),
});

/** The values of {@link sessionListArgs}. */
export interface SessionListArgs {
  readonly filter?: Maybe<SessionFilterValue>;
  readonly orderBy?: Maybe<SessionOrder>;
}

/** A filter as the domain has it. INVALID_INPUT with the path below `at` of a list that is too long. */
export function parseSessionFilter(
  filter: Maybe<SessionFilterValue>,
  at: readonly string[] = ['filter'],
): SessionFilter {
  if (!filter) return {};
  requireShortLists(filter, at);
  const automationId = readId('automation', filter.automationId);
  const within = (inner: Maybe<SessionFilterValue>, ...path: string[]) => parseSessionFilter(inner, [...at, ...path]);
  return {
    sessionIds: readIds('session', filter.ids),
    organizationIds: readIds('organization', filter.organizationIds),
    status: filter.status ?? undefined,
    statusDetail: filter.statusDetail ?? undefined,
    endReasons: filter.endReason ?? undefined,
    tags: filter.tags ?? undefined,
    // No tag at all is no condition.
    allTags: filter.allTags?.length ? filter.allTags : undefined,
    isArchived: filter.isArchived ?? undefined,
    isUnlisted: filter.isUnlisted ?? undefined,
    origins: filter.origin ?? undefined,
    playbookId: readId('playbook', filter.playbookId),
    automationIds: automationId === undefined ? undefined : [automationId],
    parentId: readId('session', filter.parentId),
    hasParent: filter.hasParent ?? undefined,
    createdBy: readCreators(filter.createdByIds),
    createdAfter: filter.createdAfter ?? undefined,
    createdBefore: filter.createdBefore ?? undefined,
    updatedAfter: filter.updatedAfter ?? undefined,
    updatedBefore: filter.updatedBefore ?? undefined,
    search: filter.search ?? undefined,
    and: filter.and?.map((inner, n) => within(inner, 'and', String(n))),
    or: filter.or?.map((inner, n) => within(inner, 'or', String(n))),
    not: filter.not ? within(filter.not, 'not') : undefined,
  };
}
