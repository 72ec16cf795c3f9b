import type { Store } from '../../store/store.ts';

/** The kinds of resource whose changes are in `resource_change`, written by triggers of their tables. */
export const resourceKinds = [
  'playbook',
  'note',
  'folder',
  'secret',
  'snapshot',
  'automation',
  'automationRun',
  'webhookEndpoint',
  'webhookDelivery',
  'role',
  'member',
  'serviceUser',
] as const;
/** See {@link resourceKinds}. */
export type ResourceKind = (typeof resourceKinds)[number];
/** A kind of object whose changes can be followed. */
export type ChangedKind = ResourceKind | 'session';

/** A table, aliased `c`, with one row per object and the last transaction that changed it. All SQL here is constant. */
export interface ChangeTable {
  readonly kind: ChangedKind;
  readonly from: string;
  readonly id: string;
  /** The organization of the object, or the enterprise for an object of the enterprise. */
  readonly scopeId: string;
  readonly where: readonly string[];
  readonly isRemoved: string;
}

/** Objects whose changes are read together, in the order of (transaction, id), and the columns to read of each. */
export interface ChangeSource<R> {
  /** The name in the cursors of its changes. */
  readonly name: string;
  readonly tables: readonly ChangeTable[];
  /** Column expressions of R, and the joins for them, for a change `c` with its `id`. Empty: nothing is read. */
  readonly record: { readonly columns: string; readonly joins: string };
  createdAt(record: R): Date;
  /** The topics that are notified of changes in a scope. */
  readonly topics: readonly ('organization' | 'resources')[];
}

/** The changes of sessions. */
export const sessionTable: ChangeTable = {
  kind: 'session',
  from: 'session_change c',
  id: 'c.session_id',
  scopeId: 'c.organization_id',
  where: [],
  isRemoved: 'false',
};

/** The deletions of sessions. Their rows are never removed, so that every cursor stays valid. `where`: which ones. */
export const deletedSessionTable = (...where: readonly string[]): ChangeTable => ({
  kind: 'session',
  from: 'deleted_session c',
  id: 'c.session_id',
  scopeId: 'c.organization_id',
  where,
  isRemoved: 'true',
});

/** The changes of the resources of a kind. */
export const resourceTable = (kind: ResourceKind): ChangeTable => ({
  kind,
  from: 'resource_change c',
  id: 'c.id',
  scopeId: 'c.scope_id',
  where: [`c.kind = '${kind}'`],
  isRemoved: 'c.removed_at is not null',
});

/** Identifies a source by its name and tables. */
export const sourceKey = ({ name, tables }: ChangeSource<unknown>): string =>
  `${name}:${tables.map(({ kind }) => kind).join(',')}`;

/**
 * The organizations whose changes are read: those of these unprefixed ids, or null: all of the enterprise. Deleted ones
 * are left out.
 */
export interface ChangeScope {
  readonly enterpriseId: string;
  readonly ids: readonly string[] | null;
  /** True if changes of the enterprise's own objects are read too. */
  readonly withEnterprise?: boolean;
}

/** Equal for all readers of the same scopes. */
export const scopeKey = ({ enterpriseId, ids, withEnterprise = false }: ChangeScope): string =>
  `${enterpriseId}|${ids === null ? '*' : ids.toSorted().join(',')}|${withEnterprise}`;

/** The services that reads of changes need. */
export type ChangeStore = Pick<Store, 'query'>;
