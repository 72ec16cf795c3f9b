import { randomBytes } from 'node:crypto';
import type { CheckpointKey } from '../../checkpoints/driver.ts';
import type { Services } from '../context.ts';

type KeyServices = Pick<Services, 'store' | 'keyring' | 'now'>;

const readKey = 'select sealed from checkpoint_key where organization_id = $1';

// Of several processes that create it at once, one does. A deleted organization gets none.
const createKey = `
  insert into checkpoint_key (organization_id, sealed, created_at)
  select id, $2, $3::timestamptz from organization where id = $1 and deleted_at is null
  on conflict (organization_id) do nothing returning sealed`;

/**
 * Returns the key with which the checkpoints of an organization are encrypted. The first call creates it. Throws for a deleted
 * organization, and for a key that another SECRET_KEY has sealed.
 */
export async function openCheckpointKey(
  { store, keyring, now }: KeyServices,
  organizationId: string,
): Promise<CheckpointKey> {
  const associatedData = `${organizationId}:checkpoints`;
  let [row] = await store.query<{ sealed: string }>(readKey, [organizationId]);
  if (!row) {
    const sealed = keyring.seal(randomBytes(32).toString('base64'), associatedData);
    [row] = await store.execute<{ sealed: string }>(createKey, [organizationId, sealed, now()]);
    row ??= (await store.query<{ sealed: string }>(readKey, [organizationId]))[0];
  }
  if (!row) throw new Error(`The organization ${organizationId} has no key for checkpoints: it is deleted.`);
  return Buffer.from(keyring.open(row.sealed, associatedData), 'base64');
}

/** The statements that seal these keys again (see `resealSecrets`). */
export const sealedCheckpointKeys = {
  read: `select organization_id as owner, 'checkpoints' as name, sealed from checkpoint_key
     where not starts_with(sealed, $1) and (organization_id, 'checkpoints') > ($2, $3)
     order by organization_id limit $4`,
  write: `update checkpoint_key set sealed = $4
     where organization_id = $1 and $2 = 'checkpoints' and sealed = $3 returning organization_id`,
};
