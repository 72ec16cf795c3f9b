import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { notFound } from '../../../common/errors.ts';
import { fieldsOf, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import {
  accessTypeSchema,
  findByScopedKeys,
  isOfAccessType,
  listConditions,
  type Scope,
  type ScopedKey,
  type ScopePermissions,
  scopeFilterCondition,
  scopeFilterOf,
  scopeList,
  useScope,
} from '../../identity/organizations/scope.ts';
import { findScopedByIds } from '../../identity/organizations/scoped-rows.ts';
import { parseId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import type { Bind, NestedList } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder, sortedPage } from '../../sorted-pages.ts';
import { maxSearchLength } from '../../text-search.ts';
import { folderIdsAt } from './folder-paths.ts';

/**
 * A note: knowledge for agents, and when it applies (`trigger`). `organizationId` null: the enterprise's own, for every
 * organization. `pinnedRepo` null: not pinned; `all`, or `owner/repo`.
 */
export type NoteRecord = Row<'KnowledgeNote'>;

const noteColumns = selectFields('KnowledgeNote', 'n', fieldsOf('KnowledgeNote'));

/** The permissions to read notes. */
export const viewNotes: ScopePermissions = {
  organization: permissionFor.viewKnowledge,
  enterprise: permissionFor.changeEnterpriseKnowledge,
};

/**
 * Returns the notes of these unprefixed ids that the viewer may read, in the ids' order; null for each other id. One
 * statement.
 */
export function findNotes(context: Context, ids: readonly string[]): Promise<(NoteRecord | null)[]> {
  return findScopedByIds(context, 'note', ids, { view: viewNotes });
}

/**
 * Returns the notes with these macros, each with its "!", that the viewer may read, in the keys' order; null for each
 * other macro.
 */
export function findNotesByMacro(context: Context, keys: readonly ScopedKey[]): Promise<(NoteRecord | null)[]> {
  const table = { table: 'knowledge_note', row: 'n', columns: noteColumns, key: 'macro' };
  return findByScopedKeys(context, { ...table, permissions: viewNotes }, keys);
}

/**
 * Returns the note of an id in any form: an organization's own or the enterprise's, from the enterprise any. Throws
 * NOT_FOUND, and the errors of {@link useScope}. Without a scope: any scope in which the viewer may read it.
 */
export async function getNote(context: Context, id: string, scope?: Scope): Promise<NoteRecord> {
  const authorizedScope = scope === undefined ? null : await useScope(context, scope, viewNotes);
  const bare = parseId('note', id);
  const [note] =
    bare === null ? [] : await findScopedByIds(context, 'note', [bare], { view: viewNotes, scope: authorizedScope });
  if (!note) throw notFound('note');
  return note;
}

/** Conditions of a list of notes in inputs. */
export const noteFilterSchema = z.object({
  search: text('search', { max: maxSearchLength }).nullish(),
  folderId: z.string().nullish(),
  folderPath: text('folderPath', { max: 5_000 }).nullish(),
  pinnedRepo: text('pinnedRepo', { max: 300 }).nullish(),
  accessType: accessTypeSchema.nullish(),
});

/**
 * Conditions of a list of notes; all of them must hold. `search`: part of the name, the trigger or the body,
 * case-insensitive. `folderId` and `folderPath`: directly in this folder; the path "/" is the root. `accessType`: in an
 * organization `org` if omitted, from the enterprise both.
 */
export type NoteFilter = z.input<typeof noteFilterSchema>;

/** Conditions of a list of notes that has an order: {@link NoteFilter} and more. */
export interface NoteListFilter extends NoteFilter, Omit<ListFilter, 'search'> {
  readonly isEnabled?: boolean | undefined;
}

const sortKeys = { name: textKey('KnowledgeNote', 'name') };
const searched = ['name', 'trigger', 'body'] as const;

/** An order of a list of notes. */
export type NoteOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/** A page of notes, newest first. Errors: those of {@link useScope} and {@link pageWindow}, INVALID_INPUT. */
export async function listNotes(
  context: Context,
  { scope, filter = {}, ...request }: PageRequest & { readonly scope: Scope; readonly filter?: NoteFilter },
  limits: PageLimits,
): Promise<Page<NoteRecord>> {
  const authorizedScope = await useScope(context, scope, viewNotes);
  const input = parseInput(noteFilterSchema, filter);
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = listConditions('n', authorizedScope, input.accessType ?? null, bind);
  where.push(
    ...filterConditions(
      input,
      authorizedScope.enterpriseId,
      () => `${bind(authorizedScope.organizationId)}::text`,
      bind,
    ),
  );
  const list = sortedPage({ name: 'notes', row: 'n' }, request, limits, bind);
  where.push(...list.beyond);
  const rows = await context.store.query<NoteRecord>(
    `select ${noteColumns} from knowledge_note n where ${where.join(' and ')} ${list.order} limit ${list.limit}`,
    values,
  );
  return list.toPage(rows);
}

/**
 * Returns the notes of an organization that has been read, by its unprefixed id, or of the enterprise for null, as a
 * nested list. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function notesOf(
  context: Context,
  organizationId: string | null,
  filter: NoteListFilter = {},
  order?: NoteOrder | null,
): NestedList<NoteRecord> {
  const { enterpriseId } = context.viewer;
  const { input, key, conditions } = narrowing(enterpriseId, filter, organizationId === null ? 'null' : 'owner.id');
  const list = scopeList(context, organizationId, { row: 'n', permissions: viewNotes, accessType: input.accessType });
  return {
    ...list,
    ...inOrder('notes', order, sortKeys),
    key: `notes ${JSON.stringify([organizationId === null, key, order])}`,
    table: 'knowledge_note',
    columns: noteColumns,
    where: (bind) => [...list.where(bind), ...conditions(bind)],
  };
}

/** Returns the notes directly in a folder that the viewer may read, as a nested list. Throws INVALID_INPUT. */
export function notesIn(
  context: Context,
  folder: { readonly id: string },
  filter: NoteListFilter = {},
  order?: NoteOrder | null,
): NestedList<NoteRecord> {
  const { viewer } = context;
  const scopeFilter = scopeFilterOf(viewer, null, viewNotes);
  const { input, key, conditions } = narrowing(viewer.enterpriseId, filter, 'null');
  return {
    ...inOrder('notes', order, sortKeys),
    key: `notes in a folder ${JSON.stringify([key, order])}`,
    ownerId: folder.id,
    row: 'n',
    table: 'knowledge_note',
    columns: noteColumns,
    owners: () => '',
    where: (bind) => [
      'n.folder_id = owner.id',
      scopeFilterCondition('n', scopeFilter, bind),
      ...isOfAccessType('n', input.accessType),
      ...conditions(bind),
    ],
  };
}

/** The conditions of a filter on a note aliased `n`, after a check. `organization`: that of the list, in SQL. INVALID_INPUT. */
function narrowing(
  enterpriseId: string,
  { isEnabled, createdBy, createdAfter, createdBefore, ...filter }: NoteListFilter,
  organization: string,
) {
  const input = parseInput(noteFilterSchema, filter, ['filter']);
  const more: ListFilter = { createdBy, createdAfter, createdBefore };
  checkListFilter(more);
  return {
    input,
    key: [input, isEnabled, more],
    conditions: (bind: Bind): string[] => [
      ...filterConditions(input, enterpriseId, () => organization, bind),
      ...(isEnabled === undefined ? [] : [`n.is_enabled = ${bind(isEnabled)}::boolean`]),
      ...listFilterConditions('n', more, [], bind),
    ],
  };
}

/** The conditions of a filter on a note aliased `n`; `organization`: the organization of the list in SQL, or null. */
function filterConditions(
  { search, folderId, folderPath, pinnedRepo }: NoteFilter,
  enterpriseId: string,
  organization: () => string,
  bind: Bind,
): string[] {
  const where: string[] = [];
  if (search != null) where.push(...listFilterConditions('n', { search }, searched, bind));
  if (folderId != null) where.push(`n.folder_id = ${bind(parseId('folder', folderId) ?? 'none')}`);
  if (folderPath != null) {
    const names = folderPath.split('/').filter((name) => name !== '');
    const isIn = () => `n.folder_id in (${folderIdsAt(names, bind(enterpriseId), organization(), bind)})`;
    where.push(names.length === 0 ? 'n.folder_id is null' : isIn());
  }
  if (pinnedRepo != null) where.push(`lower(n.pinned_repo) = lower(${bind(pinnedRepo)}::text)`);
  return where;
}
