import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Services } from '../../context.ts';

/** The key pair that signs exports of the audit log of an enterprise. */
export interface AuditSigningKey {
  /** Identifies the public key: see {@link keyIdOf}. */
  readonly id: string;
  /** PEM, as SPKI. */
  readonly publicKey: string;
  readonly privateKey: KeyObject;
}

type KeyServices = Pick<Services, 'store' | 'keyring' | 'now'>;

/** The name of the sealed key in its associated data. */
const keyName = 'audit-log';

interface StoredKey {
  readonly publicKey: string;
  readonly sealed: string;
}

const readKey = `select public_key as "publicKey", sealed from audit_signing_key where enterprise_id = $1`;

// Of several processes that create it at once, one does.
const createKey = `
  insert into audit_signing_key (enterprise_id, public_key, sealed, created_at) values ($1, $2, $3, $4::timestamptz)
  on conflict (enterprise_id) do nothing returning public_key as "publicKey", sealed`;

/** Returns the first 16 hex digits of the SHA-256 of an Ed25519 public key, as SPKI in DER. */
export function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex').slice(0, 16);
}

/**
 * Returns the key that signs exports of the audit log of an enterprise. The first call creates it; it never changes, so that all
 * exports of an enterprise can be verified with one public key. Throws for a key that another SECRET_KEY has sealed.
 */
export async function openSigningKey(
  { store, keyring, now }: KeyServices,
  enterpriseId: string,
): Promise<AuditSigningKey> {
  const associatedData = `${enterpriseId}:${keyName}`;
  let [row] = await store.query<StoredKey>(readKey, [enterpriseId]);
  if (!row) {
    const pair = generateKeyPairSync('ed25519');
    const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' });
    const text = pair.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
    const values = [enterpriseId, publicKey, keyring.seal(text, associatedData), now()];
    [row] = await store.execute<StoredKey>(createKey, values);
    row ??= (await store.query<StoredKey>(readKey, [enterpriseId]))[0] as StoredKey;
  }
  const der = Buffer.from(keyring.open(row.sealed, associatedData), 'base64');
  const privateKey = createPrivateKey({ key: der, type: 'pkcs8', format: 'der' });
  return { id: keyIdOf(createPublicKey(row.publicKey)), publicKey: row.publicKey, privateKey };
}

/** The statements that seal these keys again (see `resealSecrets`). */
export const sealedSigningKeys = {
  read: `select enterprise_id as owner, 'audit-log' as name, sealed from audit_signing_key
     where not starts_with(sealed, $1) and (enterprise_id, 'audit-log') > ($2, $3)
     order by enterprise_id limit $4`,
  write: `update audit_signing_key set sealed = $4
     where enterprise_id = $1 and $2 = 'audit-log' and sealed = $3 returning enterprise_id`,
};
