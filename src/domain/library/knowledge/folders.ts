import { fieldsOf, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { inOrderOfKeys, type WithKeyPosition } from '../../find-by-ids.ts';
import {
  type AccessType,
  isOfAccessType,
  matchesScopeFilter,
  type Scope,
  type ScopedKey,
  scopeFilterCondition,
  scopeFilterOf,
  scopeFilterValues,
  scopeList,
  useScope,
} from '../../identity/organizations/scope.ts';
import { findScopedByIds, whereListed } from '../../identity/organizations/scoped-rows.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import type { Bind, NestedList } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder, prismaPage } from '../../sorted-pages.ts';
import { maxFolderDepth } from './folder-paths.ts';
import { viewNotes } from './notes.ts';

/** Maximum number of folders of an organization, and of the enterprise itself. */
export const maxFolders = 1_000;

/** A folder of notes. `organizationId` null: the enterprise's own; `parentId` null: at the root. */
export type FolderRecord = Row<'KnowledgeFolder'>;

const folderColumns = selectFields('KnowledgeFolder', 'f', fieldsOf('KnowledgeFolder'));

/**
 * Returns the folders of these unprefixed ids that the viewer may see, in the ids' order; null for each other id. One
 * statement.
 */
export function findFolders(context: Context, ids: readonly string[]): Promise<(FolderRecord | null)[]> {
  return findScopedByIds(context, 'folder', ids, { view: viewNotes });
}

// From the root of each scope downwards, by one name at each depth.
const byPaths = `
  with recursive keys as (
    select k.position, k.organization_id, string_to_array(k.path, '/') as names
      from unnest($1::text[], $6::text[]) with ordinality k (path, organization_id, position)),
  walk as (
    select k.position, k.names, f.id, 1 as depth from keys k join knowledge_folder f
        on f.enterprise_id = $2 and coalesce(f.organization_id, '') = k.organization_id
       and f.parent_id is null and lower(f.name) = lower(k.names[1])
    union all
    select w.position, w.names, f.id, w.depth + 1 from walk w join knowledge_folder f on f.parent_id = w.id
       and lower(f.name) = lower(w.names[w.depth + 1]) where w.depth < ${maxFolderDepth})
  select w.position::int as "keyPosition", ${folderColumns} from walk w join knowledge_folder f on f.id = w.id
   where w.depth = cardinality(w.names) and ${matchesScopeFilter('f')}`;

/**
 * Returns the folders of these paths, such as "Backend/Databases", that the viewer may see, case-insensitive, in the
 * keys' order; null for each other path. One statement.
 */
export async function findFoldersByPath(
  { viewer, store }: Context,
  keys: readonly ScopedKey[],
): Promise<(FolderRecord | null)[]> {
  const namesOf = (path: string) => path.split('/').filter((name) => name !== '');
  const rows = await store.query<WithKeyPosition<FolderRecord>>(byPaths, [
    keys.map(({ text }) => namesOf(text).join('/')),
    ...scopeFilterValues(scopeFilterOf(viewer, null, viewNotes)),
    keys.map(({ organizationId }) => organizationId ?? ''),
  ]);
  return inOrderOfKeys(keys.length, rows);
}

/** A page of the folders of an organization, or of the enterprise and all its organizations, newest first. */
export async function listFolders(
  context: Context,
  { scope, ...request }: PageRequest & { readonly scope: Scope },
  limits: PageLimits,
): Promise<Page<FolderRecord>> {
  const authorizedScope = await useScope(context, scope, viewNotes);
  const page = prismaPage({ name: 'folders' }, request, limits);
  const where = { AND: [whereListed(authorizedScope, null), ...page.beyond] };
  const { orderBy, take } = page;
  return page.toPage<FolderRecord>(await context.store.prisma.knowledgeFolder.findMany({ where, orderBy, take }));
}

/** Conditions of a list of folders; ids are unprefixed. `accessType`: as in a list of notes. */
export interface FolderFilter extends Omit<ListFilter, 'createdBy'> {
  readonly accessType?: AccessType | undefined;
  readonly parentId?: string | undefined;
  readonly hasParent?: boolean | undefined;
}

const sortKeys = { name: textKey('KnowledgeFolder', 'name') };

/** An order of a list of folders. */
export type FolderOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/**
 * Returns the folders of an organization that has been read, by its unprefixed id, or of the enterprise and all its
 * organizations for null, as a nested list. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function foldersOf(
  context: Context,
  organizationId: string | null,
  filter: FolderFilter = {},
  order?: FolderOrder | null,
): NestedList<FolderRecord> {
  const { accessType } = filter;
  const list = scopeList(context, organizationId, { row: 'f', permissions: viewNotes, accessType });
  checkListFilter(filter);
  return {
    ...list,
    ...inOrder('folders', order, sortKeys),
    key: `folders ${JSON.stringify([organizationId === null, filter, order])}`,
    table: 'knowledge_folder',
    columns: folderColumns,
    where: (bind) => [...list.where(bind), ...filterConditions(filter, bind)],
  };
}

function filterConditions({ parentId, hasParent, ...filter }: FolderFilter, bind: Bind): string[] {
  return [
    ...(parentId === undefined ? [] : [`f.parent_id = ${bind(parentId)}`]),
    ...(hasParent === undefined ? [] : [`f.parent_id is ${hasParent ? 'not ' : ''}null`]),
    ...listFilterConditions('f', filter, ['name'], bind),
  ];
}

/** Returns the direct subfolders of a folder that the viewer may read, as a nested list. Throws INVALID_INPUT. */
export function foldersIn(
  context: Context,
  folder: { readonly id: string },
  filter: FolderFilter = {},
  order?: FolderOrder | null,
): NestedList<FolderRecord> {
  const scopeFilter = scopeFilterOf(context.viewer, null, viewNotes);
  checkListFilter(filter);
  return {
    ...inOrder('folders', order, sortKeys),
    key: `folders in a folder ${JSON.stringify([filter, order])}`,
    ownerId: folder.id,
    row: 'f',
    table: 'knowledge_folder',
    columns: folderColumns,
    owners: () => '',
    where: (bind) => [
      'f.parent_id = owner.id',
      scopeFilterCondition('f', scopeFilter, bind),
      ...isOfAccessType('f', filter.accessType),
      ...filterConditions(filter, bind),
    ],
  };
}

/** A folder in its tree. `path`: the names of its ancestors and its own; `noteCount`: notes directly in it. */
export interface FolderSummary {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly path: string;
  readonly noteCount: number;
  readonly createdAt: Date;
}

/** The folders of one scope, parents first, and the number of notes at the root. */
export interface FolderTree {
  readonly folders: readonly FolderSummary[];
  readonly rootNoteCount: number;
}

const isInScope = (alias: string) =>
  `${alias}.enterprise_id = $1 and (${alias}.organization_id = $2 or ($2::text is null and ${alias}.organization_id is null))`;

// The row without an id is the root. At most maxFolders rows, which is the limit of their creation.
const treeSql = `
  with recursive counted as (
    select n.folder_id, count(*) as notes from knowledge_note n where ${isInScope('n')} group by n.folder_id),
  tree as (
    select f.id, f.parent_id, f.name, f.description, f.created_at, f.name as path, array[lower(f.name)] as sort_key, 1 as depth
      from knowledge_folder f where ${isInScope('f')} and f.parent_id is null
    union all
    select f.id, f.parent_id, f.name, f.description, f.created_at, t.path || '/' || f.name, t.sort_key || lower(f.name), t.depth + 1
      from tree t join knowledge_folder f on f.parent_id = t.id and ${isInScope('f')} where t.depth < ${maxFolderDepth})
  select t.id, t.parent_id as "parentId", t.name, t.description, t.path, t.created_at as "createdAt", coalesce(c.notes, 0) as "noteCount",
         t.sort_key
    from tree t left join counted c on c.folder_id = t.id
  union all
  select null, null, null, null, null, null, coalesce((select c.notes from counted c where c.folder_id is null), 0), null
  order by 8 nulls first limit ${maxFolders + 1}`;

/**
 * Returns all folders of an organization, or the enterprise's own, with counts. One statement. Throws the errors of
 * {@link useScope}.
 */
export async function getFolderTree(context: Context, scope: Scope): Promise<FolderTree> {
  const { enterpriseId, organizationId } = await useScope(context, scope, viewNotes);
  const rows = await context.store.query<Omit<FolderSummary, 'id'> & { id: string | null }>(treeSql, [
    enterpriseId,
    organizationId,
  ]);
  const folders = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ id, ...row }]));
  return { folders, rootNoteCount: rows.find(({ id }) => id === null)?.noteCount ?? 0 };
}
