import { sealedSigningKeys } from '../../audit/export/signing-key.ts';
import { sealedCheckpointKeys } from '../../checkpoints/checkpoint-key.ts';
import type { Services } from '../../context.ts';
import { secretAssociatedData } from './secrets.ts';

/** Number of rows that are read, or deleted, at once. */
const batchSize = 500;

type ResealServices = Pick<Services, 'store' | 'keyring' | 'log'>;

/**
 * Deletes the secrets of deleted organizations, and those of sessions that have ended permanently. Seals again all
 * values that are sealed with the previous SECRET_KEY, so that this key can be dropped. May run in several processes at
 * once.
 */
export async function resealSecrets(services: ResealServices, isStopped: () => boolean): Promise<void> {
  for (const sql of [deleteOfOrganizations, deleteOfSessions]) {
    for (;;) {
      const rows = await services.store.execute(sql, [batchSize]);
      if (rows.length < batchSize || isStopped()) break;
    }
  }
  await reseal(services, organizationSecrets, isStopped);
  await reseal(services, sessionSecrets, isStopped);
  await reseal(services, webhookSecrets, isStopped);
  await reseal(services, previousWebhookSecrets, isStopped);
  await reseal(services, incomingWebhookSecrets, isStopped);
  await reseal(services, sealedOfEnterprise('provider_key'), isStopped);
  await reseal(services, sealedOfEnterprise('git_connection'), isStopped);
  await reseal(services, sealedCheckpointKeys, isStopped);
  await reseal(services, sealedSigningKeys, isStopped);
}

const deleteOfOrganizations = `
  delete from secret where id in (
    select x.id from organization o join secret x on x.organization_id = o.id where o.deleted_at is not null limit $1)
  returning id`;

const deleteOfSessions = `
  delete from session_secret where (session_id, key) in (
    select x.session_id, x.key from session_secret x join session s on s.id = x.session_id
      join organization o on o.id = s.organization_id
     where s.ended_by in ('terminated', 'expired') or o.deleted_at is not null limit $1)
  returning key`;

interface SealedRow {
  /** Together they identify the row, and are the associated data of its sealed value. */
  readonly owner: string;
  readonly name: string;
  readonly sealed: string;
}

// $1: the prefix of values sealed with the current key. The rest is read in pages by (owner, name).
const organizationSecrets = {
  read: `select organization_id as owner, id as name, sealed from secret
     where not starts_with(sealed, $1) and (organization_id, id) > ($2, $3) order by organization_id, id limit $4`,
  write: 'update secret set sealed = $4 where organization_id = $1 and id = $2 and sealed = $3 returning id',
};
const sessionSecrets = {
  read: `select session_id as owner, key as name, sealed from session_secret
     where not starts_with(sealed, $1) and (session_id, key) > ($2, $3) order by session_id, key limit $4`,
  write: 'update session_secret set sealed = $4 where session_id = $1 and key = $2 and sealed = $3 returning key',
};
const webhookSecretsIn = (column: string) => ({
  read: `select organization_id as owner, id as name, ${column} as sealed from webhook_endpoint
     where not starts_with(${column}, $1) and (organization_id, id) > ($2, $3) order by organization_id, id limit $4`,
  write: `update webhook_endpoint set ${column} = $4 where organization_id = $1 and id = $2 and ${column} = $3 returning id`,
});
const incomingWebhookSecrets = {
  read: `select organization_id as owner, id as name, webhook_secret_sealed as sealed from automation
     where not starts_with(webhook_secret_sealed, $1) and (organization_id, id) > ($2, $3) order by organization_id, id limit $4`,
  write: `update automation set webhook_secret_sealed = $4
     where organization_id = $1 and id = $2 and webhook_secret_sealed = $3 returning id`,
};
const sealedOfEnterprise = (table: 'provider_key' | 'git_connection') => ({
  read: `select enterprise_id as owner, id as name, sealed from ${table}
     where not starts_with(sealed, $1) and (enterprise_id, id) > ($2, $3) order by enterprise_id, id limit $4`,
  write: `update ${table} set sealed = $4 where enterprise_id = $1 and id = $2 and sealed = $3 returning id`,
});
const webhookSecrets = webhookSecretsIn('sealed');
const previousWebhookSecrets = webhookSecretsIn('previous_sealed');

async function reseal(
  { store, keyring, log }: ResealServices,
  sql: { read: string; write: string },
  isStopped: () => boolean,
): Promise<void> {
  let last: SealedRow = { owner: '', name: '', sealed: '' };
  for (;;) {
    const rows = await store.query<SealedRow>(sql.read, [
      `v1.${keyring.fingerprint}.`,
      last.owner,
      last.name,
      batchSize,
    ]);
    for (const { owner, name, sealed } of rows) {
      if (isStopped()) return;
      try {
        const associatedData = secretAssociatedData(owner, name);
        await store.execute(sql.write, [
          owner,
          name,
          sealed,
          keyring.seal(keyring.open(sealed, associatedData), associatedData),
        ]);
      } catch (error) {
        log.warn({ err: error, owner, name }, 'A secret could not be sealed with the present key.');
      }
    }
    if (rows.length < batchSize) return;
    last = rows.at(-1) as SealedRow;
  }
}
