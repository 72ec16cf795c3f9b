import { DomainError } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context, OrganizationQuotas } from '../../context.ts';
import { waitsForWorker } from '../../waiting-runs.ts';
import type { OrganizationRecord } from './use-organization.ts';

type Services = Pick<Context, 'organizationQuotas'>;

/** The members of an organization that are its quotas; each has a default in {@link OrganizationQuotas}. */
export const quotaFields = [
  'maxQueuedSessions',
  'maxStorageMb',
  'maxTokensPerDay',
] as const satisfies readonly (keyof OrganizationRecord & keyof OrganizationQuotas)[];

/** An organization's own quotas. Null: the default of the service; 0: no limit. */
export type OwnQuotas = Pick<OrganizationRecord, (typeof quotaFields)[number]>;

/** Returns the quota that applies to an organization; null: no limit. */
export function quotaOf(
  { organizationQuotas }: Services,
  organization: Partial<OwnQuotas>,
  field: (typeof quotaFields)[number],
): number | null {
  return (organization[field] ?? organizationQuotas[field]) || null;
}

const megabyte = 1_048_576;

// Sessions of one organization are admitted one at a time, so that two do not take the last room.
const takeTurn = `select pg_advisory_xact_lock(hashtext('switchyard:queue'), hashtext($1))`;

// Reads no more sessions than the quota allows, besides those that run.
const countQueued = `
  select count(*)::int as n from (
    select 1 from run r join session s on s.id = r.session_id
     where r.queued_at is not null and r.organization_id = $1 and ${waitsForWorker} limit $2) waiting`;

/**
 * Checks that an organization may put one more session into the queue. Takes a lock until the end of the transaction, which must wait for
 * no other session after this. Throws LIMIT_EXCEEDED.
 */
export async function requireQueueRoom(
  services: Services,
  tx: Transaction,
  organization: Pick<OrganizationRecord, 'id' | 'maxQueuedSessions'>,
): Promise<void> {
  const max = quotaOf(services, organization, 'maxQueuedSessions');
  if (max === null) return;
  await tx.query(takeTurn, [organization.id]);
  const [row] = await tx.query<{ n: number }>(countQueued, [organization.id, max]);
  if ((row?.n ?? 0) < max) return;
  const message = `The organization has ${max} ${max === 1 ? 'session' : 'sessions'} in the queue, which is its limit. Try again when one of them has started.`;
  throw new DomainError('LIMIT_EXCEEDED', message);
}

const readBytes = 'select bytes::float8 as bytes from organization_storage where organization_id = $1';

/** Checks that an organization has not used its storage. Throws LIMIT_EXCEEDED. */
export async function requireStorage(
  services: Services,
  tx: Transaction,
  organization: Pick<OrganizationRecord, 'id'> & OwnQuotas,
): Promise<void> {
  const maxMb = quotaOf(services, organization, 'maxStorageMb');
  if (maxMb === null) return;
  const [row] = await tx.query<{ bytes: number }>(readBytes, [organization.id]);
  if ((row?.bytes ?? 0) >= maxMb * megabyte) throw isFull(maxMb);
}

const readOwn = 'select max_storage_mb as "maxStorageMb" from organization where id = $1';

// The row is there and locked after this: two files do not take the last room. The triggers of the tables add what is written.
const lockBytes = `
  insert into organization_storage as o (organization_id, bytes) values ($1, 0)
  on conflict (organization_id) do update set bytes = o.bytes returning o.bytes::float8 as bytes`;

/**
 * Checks that an organization has storage for one more file. Locks the sum until the end of the transaction, which must lock
 * nothing of another organization and no further session after this. Throws LIMIT_EXCEEDED.
 */
export async function requireStorageRoom(
  services: Services,
  tx: Transaction,
  organizationId: string,
  bytes: number,
): Promise<void> {
  const [own] = await tx.query<Pick<OwnQuotas, 'maxStorageMb'>>(readOwn, [organizationId]);
  const maxMb = quotaOf(services, own ?? {}, 'maxStorageMb');
  if (maxMb === null) return;
  const [row] = await tx.query<{ bytes: number }>(lockBytes, [organizationId]);
  if ((row?.bytes ?? 0) + bytes > maxMb * megabyte) throw isFull(maxMb);
}

const isFull = (maxMb: number) =>
  new DomainError(
    'LIMIT_EXCEEDED',
    `The attachments and checkpoints of the organization need more than its storage of ${maxMb} MiB. Have this limit raised, or end sessions so that their files are deleted.`,
  );

/** Returns the bytes that organizations have stored, by unprefixed ids, in their order. Without a permission check. */
export async function findStoredBytes({ store }: Pick<Context, 'store'>, ids: readonly string[]): Promise<number[]> {
  const rows = await store.query<{ id: string; bytes: number }>(
    'select organization_id as id, bytes::float8 as bytes from organization_storage where organization_id = any($1::text[])',
    [ids],
  );
  const found = new Map(rows.map(({ id, bytes }) => [id, bytes]));
  return ids.map((id) => found.get(id) ?? 0);
}
