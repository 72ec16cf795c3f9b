import { DomainError } from '../../../common/errors.ts';
import type { Services } from '../../context.ts';
import { countFailure } from '../../limits/authenticate-limited.ts';

/** The interval in which programs ask for their token, in seconds. */
export const pollSeconds = 5;
/** Tolerance for requests that arrive closer together than they were sent. */
const toleranceMs = 1_000;

/** The state of an authorization. `granted`: the device code is a token from now on. */
export type RedeemedCode =
  | { readonly state: 'granted'; readonly expiresAt: Date | null }
  | { readonly state: 'pending' | 'slow_down' | 'denied' | 'expired' };

interface PolledRow {
  readonly id: string;
  readonly status: 'pending' | 'approved' | 'denied';
  readonly expiresAt: Date;
  readonly polledBefore: Date | null;
  readonly keyExpiresAt: Date | null;
  readonly keyRevokedAt: Date | null;
}

const select = `
  select d.id, d.status, d.expires_at as "expiresAt", d.polled_at as "polledBefore", k.expires_at as "keyExpiresAt",
      k.revoked_at as "keyRevokedAt"
    from device_authorization d left join api_key k on k.id = d.api_key_id where d.device_code_hash = any($1::text[])`;

/**
 * Returns the state of a program's authorization. The answer after an approval is the same until the authorization ends, so that a
 * lost response loses no token. A key that was revoked meanwhile counts as denied. Throws UNAUTHENTICATED for an unknown code;
 * RATE_LIMITED for an address with too many of them.
 */
export async function redeemDeviceCode(
  services: Services,
  deviceCode: string,
  address: string | null,
): Promise<RedeemedCode> {
  const now = services.now();
  const { store } = services;
  const [row] = await store.query<PolledRow>(select, [services.keyring.tokenHashes(deviceCode)]);
  if (row === undefined) {
    throw await countFailure(services, address, new DomainError('UNAUTHENTICATED', 'That device code isn’t valid.'));
  }
  if (row.expiresAt <= now) return { state: 'expired' };
  if (row.status === 'denied' || row.keyRevokedAt !== null) return { state: 'denied' };
  if (row.status === 'approved') return { state: 'granted', expiresAt: row.keyExpiresAt };
  const { polledBefore } = row;
  const isEarly = polledBefore !== null && now.getTime() - polledBefore.getTime() < pollSeconds * 1_000 - toleranceMs;
  // A program that asks too often writes nothing.
  if (isEarly) return { state: 'slow_down' };
  await store.execute('update device_authorization set polled_at = $2 where id = $1', [row.id, now]);
  return { state: 'pending' };
}
