import { type IdKind, parseId } from '../../domain/ids.ts';
import type { SessionFilter } from '../../domain/sessions/session-filter.ts';
import { builder } from '../builder.ts';
import { OrderDirectionEnum, SessionOrderFieldEnum, SessionOriginEnum, SessionStatusEnum } from './enums.ts';

/** SessionFilter of the contract. */
export const SessionFilterInput = builder.inputType('SessionFilter', {
  description: 'What narrows a list of sessions; every condition given must hold.',
  fields: (t) => ({
    status: t.field({ type: [SessionStatusEnum], description: 'Any of these.' }),
    tags: t.stringList({ description: 'Tagged with any of these.' }),
    isArchived: t.boolean({ description: 'Only archived ones, or only others; both when left out.' }),
    origin: t.field({ type: [SessionOriginEnum], description: 'Started at any of these.' }),
    playbookId: t.id({ description: 'With this playbook.' }),
    automationId: t.id({ description: 'Started by this automation.' }),
    createdById: t.id({ description: 'Started by this user or service user.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Started then or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Started before.' }),
    updatedAfter: t.field({ type: 'DateTime', description: 'Changed then or later.' }),
    updatedBefore: t.field({ type: 'DateTime', description: 'Changed before.' }),
    search: t.string({ description: 'Part of the title, upper and lower case alike.' }),
  }),
});

/** SessionOrder of the contract. */
export const SessionOrderInput = builder.inputType('SessionOrder', {
  description: 'The order of a list of sessions; without it the newest come first.',
  fields: (t) => ({
    field: t.field({ type: SessionOrderFieldEnum, required: true, description: 'What counts.' }),
    direction: t.field({ type: OrderDirectionEnum, required: true, description: 'Which end comes first.' }),
  }),
});

// An id that is none matches nothing, as any other id of something that does not exist.
const readId = (kind: IdKind, id: string | null | undefined) => (id == null ? undefined : (parseId(kind, id) ?? ''));

/** A filter as the domain has it. */
export function parseSessionFilter(filter: typeof SessionFilterInput.$inferInput | null | undefined): SessionFilter {
  if (!filter) return {};
  const { createdById } = filter;
  const automationId = readId('automation', filter.automationId);
  return {
    status: filter.status ?? undefined,
    tags: filter.tags ?? undefined,
    isArchived: filter.isArchived ?? undefined,
    origins: filter.origin ?? undefined,
    playbookId: readId('playbook', filter.playbookId),
    automationIds: automationId === undefined ? undefined : [automationId],
    createdByIds:
      createdById == null ? undefined : [parseId('user', createdById) ?? parseId('serviceUser', createdById) ?? ''],
    createdAfter: filter.createdAfter ?? undefined,
    createdBefore: filter.createdBefore ?? undefined,
    updatedAfter: filter.updatedAfter ?? undefined,
    updatedBefore: filter.updatedBefore ?? undefined,
    search: filter.search ?? undefined,
  };
}
