import { text } from 'node:stream/consumers';
import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith } from '../../../auth/viewer.ts';
import type { FileChange } from '../../../git/diff/file-change.ts';
import { type Field, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { checkListFilter } from '../../list-filter.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readCursor,
  toPage,
  writeCursor,
} from '../../pages.ts';
import { readChangedFiles } from './changed-files.ts';

const fields = [
  'sessionId',
  'position',
  'turn',
  'baseCommit',
  'headCommit',
  'fileCount',
  'additions',
  'deletions',
  'isTruncated',
  'createdAt',
] as const satisfies readonly Field<'RepositoryChange'>[];

/** A file of changes to download. */
export interface ChangesDownload {
  readonly id: string;
  readonly name: string;
}

/** The stored changes of a session's repository. */
export type RepositoryChangesRecord = Pick<Row<'RepositoryChange'>, (typeof fields)[number]> & {
  /** The key of the list of files in the file storage; null: there are none. */
  readonly storageKey: string | null;
  readonly patch: ChangesDownload | null;
  readonly bundle: ChangesDownload | null;
};

/** The changes of one turn of a session, by its unprefixed id. */
export interface ChangesKey {
  readonly sessionId: string;
  /** 0: all turns. */
  readonly turn: number;
}

/**
 * Returns the stored changes of these turns, in the keys' order and each in the order of the session's repositories. Empty for a
 * session that the viewer may not view.
 */
export async function listRepositoryChanges(
  { store, viewer }: Context,
  keys: readonly ChangesKey[],
): Promise<RepositoryChangesRecord[][]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const download = (row: string) =>
    `case when ${row}.id is null then null else jsonb_build_object('id', ${row}.id, 'name', ${row}.name) end`;
  const rows = await store.query<RepositoryChangesRecord & { key: number }>(
    `select k.key::int as key, ${selectFields('RepositoryChange', 'c', fields)}, f.storage_key as "storageKey",
            ${download('p')} as patch, ${download('b')} as bundle
       from unnest($1::text[], $2::int[]) with ordinality k (session_id, turn, key)
       join repository_change c on c.session_id = k.session_id and c.turn = k.turn
       join session s on s.id = c.session_id join organization o on o.id = s.organization_id
       left join attachment f on f.id = c.files_id
       left join attachment p on p.id = c.patch_id
       left join attachment b on b.id = c.bundle_id
      where o.enterprise_id = $3 and o.deleted_at is null and ($4::boolean or o.id = any($5::text[]))
      order by k.key, c.position`,
    [keys.map(({ sessionId }) => sessionId), keys.map(({ turn }) => turn), enterpriseId, all, ids],
  );
  const found = keys.map((): RepositoryChangesRecord[] => []);
  for (const { key, ...row } of rows) found[key - 1]?.push(row);
  return found;
}

/** A changed file with its number in the list. */
export interface ChangedFileRecord extends FileChange {
  readonly number: number;
}

/** Conditions of changed files; all of them must hold. */
export interface ChangedFileFilter {
  /** Part of the path or of the former path, regardless of case. */
  readonly search?: string | undefined;
  /** Exact paths. */
  readonly paths?: readonly string[] | undefined;
}

const listName = 'changedFiles';

/** A page of changed files, and the number of files in the whole list. */
export interface ChangedFilePage {
  readonly page: Page<ChangedFileRecord>;
  readonly total: number;
}

/**
 * Returns the files of {@link listRepositoryChanges} by the keys of their lists in the file storage. Reads one list after another: each
 * can have several MB. Throws SERVICE_UNAVAILABLE if the file storage cannot be read.
 */
export async function readFileLists(
  { files }: Pick<Context, 'files'>,
  storageKeys: readonly string[],
): Promise<FileChange[][]> {
  const lists: FileChange[][] = [];
  for (const key of storageKeys) {
    const content = await files.read(key);
    lists.push(content === null ? [] : readChangedFiles(await text(content)));
  }
  return lists;
}

/**
 * Returns a page of the files of {@link readFileLists}, by path. `fileCount`: as in the record of the changes. Throws the errors of
 * {@link pageWindow} and {@link checkListFilter}.
 */
export function listChangedFiles(
  { stored, fileCount }: { readonly stored: readonly FileChange[]; readonly fileCount: number },
  filter: ChangedFileFilter,
  request: PageRequest,
  limits: PageLimits,
): ChangedFilePage {
  const window = pageWindow(request, limits, readNumber);
  checkListFilter(filter, 'paths');
  const toRows = (each: readonly FileChange[], from: number) =>
    each.map((file, n): ChangedFileRecord => ({ ...file, number: from + n }));
  const cursorOf = ({ number }: ChangedFileRecord) => writeCursor(listName, number);
  if (filter.search !== undefined || filter.paths !== undefined) {
    const all = toRows(stored, 0).filter(matcherOf(filter));
    const { after, before, limit, backward } = window;
    const within = all.filter(({ number }) => number > (after ?? -1) && number < (before ?? Number.POSITIVE_INFINITY));
    const rows = backward ? within.reverse() : within;
    return { page: toPage(rows.slice(0, limit + 1), window, cursorOf), total: all.length };
  }
  const count = stored.length;
  const from = window.after === null ? 0 : window.after + 1;
  const to = Math.min(count, window.before ?? count);
  const [first, last] = window.backward
    ? [Math.max(from, to - window.limit - 1), to]
    : [from, Math.min(to, from + window.limit + 1)];
  const rows = first < last ? toRows(stored.slice(first, last), first) : [];
  if (window.backward) rows.reverse();
  return { page: toPage(rows, window, cursorOf), total: fileCount };
}

function matcherOf({ search, paths }: ChangedFileFilter): (file: FileChange) => boolean {
  const part = search?.toLowerCase() ?? '';
  const exact = paths && new Set(paths);
  return ({ path, oldPath }) =>
    (exact?.has(path) ?? true) && [path, oldPath ?? ''].some((each) => each.toLowerCase().includes(part));
}

function readNumber(cursor: string): number | null {
  const [number = ''] = readCursor(listName, 1, cursor) ?? [];
  return /^\d{1,6}$/.test(number) ? Number(number) : null;
}
