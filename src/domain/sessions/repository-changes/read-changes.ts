import { text } from 'node:stream/consumers';
import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith } from '../../../auth/viewer.ts';
import type { FileChange } from '../../../git/diff/file-change.ts';
import { type Field, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
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

const listName = 'changedFiles';

/**
 * Returns a page of the files of {@link listRepositoryChanges}, by path. Throws the errors of {@link pageWindow}, and
 * SERVICE_UNAVAILABLE if the file storage cannot be read.
 */
export async function listChangedFiles(
  { files }: Pick<Context, 'files'>,
  { storageKey }: Pick<RepositoryChangesRecord, 'storageKey'>,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ChangedFileRecord>> {
  const window = pageWindow(request, limits, readNumber);
  const content = storageKey === null ? null : await files.read(storageKey);
  const stored = content === null ? '' : await text(content);
  const count = stored.split('\n').length - 1;
  const from = window.after === null ? 0 : window.after + 1;
  const to = Math.min(count, window.before ?? count);
  const [first, last] = window.backward
    ? [Math.max(from, to - window.limit - 1), to]
    : [from, Math.min(to, from + window.limit + 1)];
  const read = first < last ? readChangedFiles(stored, first, last) : [];
  const rows = read.map((file, n): ChangedFileRecord => ({ ...file, number: first + n }));
  if (window.backward) rows.reverse();
  return toPage(rows, window, ({ number }) => writeCursor(listName, number));
}

function readNumber(cursor: string): number | null {
  const [number = ''] = readCursor(listName, 1, cursor) ?? [];
  return /^\d{1,6}$/.test(number) ? Number(number) : null;
}
