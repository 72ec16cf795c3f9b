import { permissionFor } from '../../auth/permissions.ts';
import { missingPermission, type Viewer } from '../../auth/viewer.ts';
import { notFound } from '../../common/errors.ts';
import type { ForgeErrorCode } from '../../forges/interface/errors.ts';
import type { ConnectionReport, ForgeKind } from '../../forges/interface/forge.ts';
import { fieldsOf, type Row, selectFields } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { parseId } from '../ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions, oneOfConditions } from '../list-filter.ts';
import type { NestedList } from '../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../pages.ts';
import { textKey } from '../sort-keys.ts';
import { inOrder, type ListOrder, sortedPage } from '../sorted-pages.ts';

const gitConnectionFields = fieldsOf('GitConnection', [
  'sealed',
  'deletedAt',
  'lastTest',
  'lastFailure',
  'lastWebhookRefusal',
]);

/** The last failed call through a connection. The message is for users and contains no credential. */
export interface ConnectionFailure {
  readonly code: ForgeErrorCode;
  readonly message: string;
  /** ISO 8601. */
  readonly at: string;
}

/** A report as JSON has it: times are ISO 8601. */
export type StoredReport = Omit<ConnectionReport, 'expiresAt'> & { readonly expiresAt: string | null };

/** A git connection without its credential, which no API returns. */
export interface GitConnectionRecord extends Pick<Row<'GitConnection'>, (typeof gitConnectionFields)[number]> {
  readonly providerType: ForgeKind;
  /** False: a server that needs no credential. */
  readonly hasCredential: boolean;
  /** Null: never tested. */
  readonly lastTest: { readonly at: string; readonly report: StoredReport } | null;
  /** Null: the last call succeeded, or there was none. */
  readonly lastFailure: ConnectionFailure | null;
  /** The last webhook with a correct signature; null: none in the last week. */
  readonly lastWebhookAt: Date | null;
  /** The last webhook that could not be processed; null: none in the last week. */
  readonly lastWebhookFailure: WebhookFailure | null;
  /** The last webhook without a correct signature, at most one a minute; null: there was none. */
  readonly lastWebhookRefusal: WebhookFailure | null;
}

/** A webhook of a forge that was refused or could not be processed. The message is for users. */
export interface WebhookFailure {
  readonly message: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The columns of a {@link GitConnectionRecord} of a `git_connection` aliased `c`: never its credential. */
export const gitConnectionColumns = `${selectFields('GitConnection', 'c', gitConnectionFields)},
  c.last_test as "lastTest", c.last_failure as "lastFailure", c.last_webhook_refusal as "lastWebhookRefusal",
  c.sealed is not null as "hasCredential",
  (select max(d.received_at) from git_delivery d where d.git_connection_id = c.id) as "lastWebhookAt",
  (select json_build_object('message', d.error, 'at', d.received_at) from git_delivery d
    where d.git_connection_id = c.id and d.status = 'failed' order by d.received_at desc limit 1) as "lastWebhookFailure"`;

/** Tells if the viewer may see the connections of its enterprise: who manages organizations or the enterprise's settings. */
export function maySeeConnections({ enterprisePermissions: granted }: Viewer): boolean {
  return granted.has(permissionFor.viewGitConnections) || granted.has(permissionFor.manageGitConnections);
}

/** Throws FORBIDDEN with the permission's name unless {@link maySeeConnections}. */
export function requireSeesConnections(viewer: Viewer): void {
  if (!maySeeConnections(viewer)) throw missingPermission(permissionFor.viewGitConnections);
}

/** Returns the connections of these unprefixed ids that the viewer may see, in the ids' order; null for each other id. */
export async function findGitConnections(
  { viewer, store }: Pick<Context, 'viewer' | 'store'>,
  ids: readonly string[],
): Promise<(GitConnectionRecord | null)[]> {
  if (!maySeeConnections(viewer)) return ids.map(() => null);
  const rows = await store.query<GitConnectionRecord>(
    `select ${gitConnectionColumns} from git_connection c
      where c.id = any($1::text[]) and c.enterprise_id = $2 and c.deleted_at is null`,
    [ids, viewer.enterpriseId],
  );
  return inOrderOf(ids, rows);
}

/** Returns the connection of an id in any form. Throws NOT_FOUND, also if the viewer may not see it. */
export async function getGitConnection(context: Context, id: string): Promise<GitConnectionRecord> {
  const bare = parseId('gitConnection', id);
  const [connection] = bare === null ? [] : await findGitConnections(context, [bare]);
  if (!connection) throw notFound('git connection');
  return connection;
}

/** Conditions of a list of connections. `search`: in the name and the host. */
export interface GitConnectionFilter extends ListFilter {
  readonly providerTypes?: readonly ForgeKind[] | undefined;
}

const sortKeys = { name: textKey('GitConnection', 'name') };

/** An order of a list of connections. */
export type GitConnectionOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/** Returns the connections of the viewer's enterprise as a nested list. Throws FORBIDDEN, INVALID_INPUT. */
export function gitConnectionsOf(
  { viewer }: Context,
  filter: GitConnectionFilter = {},
  order?: GitConnectionOrder | null,
): NestedList<GitConnectionRecord> {
  requireSeesConnections(viewer);
  checkListFilter(filter);
  return {
    ...inOrder('gitConnections', order, sortKeys),
    key: `git connections ${JSON.stringify([filter, order])}`,
    ownerId: viewer.enterpriseId,
    row: 'c',
    table: 'git_connection',
    columns: gitConnectionColumns,
    owners: () => '',
    where: (bind) => [
      'c.enterprise_id = owner.id',
      'c.deleted_at is null',
      ...oneOfConditions('c.provider_type', filter.providerTypes, bind),
      ...listFilterConditions('c', filter, ['name', 'host'], bind),
    ],
  };
}

/** Lists the connections of the viewer's enterprise, newest first. Throws FORBIDDEN and the errors of `pageWindow`. */
export async function listGitConnections(
  { viewer, store }: Context,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<GitConnectionRecord>> {
  requireSeesConnections(viewer);
  const values: unknown[] = [viewer.enterpriseId];
  const page = sortedPage({ name: 'gitConnections', row: 'c' }, request, limits, (value) => `$${values.push(value)}`);
  const where = ['c.enterprise_id = $1', 'c.deleted_at is null', ...page.beyond].join(' and ');
  const rows = await store.query<GitConnectionRecord>(
    `select ${gitConnectionColumns} from git_connection c where ${where} ${page.order} limit ${page.limit}`,
    values,
  );
  return page.toPage(rows);
}
