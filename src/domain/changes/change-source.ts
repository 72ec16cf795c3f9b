import type { Store } from '../../store/store.ts';

/** The kinds of resource whose changes `resource_change` has, by triggers of their tables. */
export const resourceKinds = [
  'playbook',
  'note',
  'folder',
  'secret',
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
/** A kind of thing whose changes can be followed. */
export type ChangedKind = ResourceKind | 'session';

/** A table, aliased `c`, with one row for each thing of a kind that says which transaction changed it last. SQL of this program. */
export interface ChangeTable {
  readonly kind: ChangedKind;
  readonly from: string;
  readonly id: string;
  /** The organization of the thing, or the enterprise for what belongs to it. */
  readonly scopeId: string;
  readonly where: readonly string[];
  readonly isRemoved: string;
}

/** Things whose changes are read together, in the order of (transaction, id), and what is read of each. */
export interface ChangeSource<R> {
  /** Names the cursors of its changes. */
  readonly name: string;
  readonly tables: readonly ChangeTable[];
  /** Expressions of the columns of R, and joins that give them for a change `c` with its `id`. Empty: nothing is read. */
  readonly record: { readonly columns: string; readonly joins: string };
  createdAt(record: R): Date;
  /** The topics of the bell that ring for changes of a place. */
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

/** The changes of the resources of a kind. */
export const resourceTable = (kind: ResourceKind): ChangeTable => ({
  kind,
  from: 'resource_change c',
  id: 'c.id',
  scopeId: 'c.place_id',
  where: [`c.kind = '${kind}'`],
  isRemoved: 'c.removed_at is not null',
});

/** Tells a source from those that read other tables. */
export const sourceKey = ({ name, tables }: ChangeSource<unknown>): string =>
  `${name}:${tables.map(({ kind }) => kind).join(',')}`;

/** The organizations whose changes are read: those of these bare ids, or null: all of the enterprise. Deleted ones are left out. */
export interface ChangeScope {
  readonly enterpriseId: string;
  readonly ids: readonly string[] | null;
  /** True if changes of what belongs to the enterprise itself are read too. */
  readonly withEnterprise?: boolean;
}

/** The same for all readers of the same places. */
export const scopeKey = ({ enterpriseId, ids, withEnterprise = false }: ChangeScope): string =>
  `${enterpriseId}|${ids === null ? '*' : ids.toSorted().join(',')}|${withEnterprise}`;

/** The services that reads of changes need. */
export type ChangeStore = Pick<Store, 'query'>;
