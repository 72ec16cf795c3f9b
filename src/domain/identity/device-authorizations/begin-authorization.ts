import { displayToken, newToken } from '../../../auth/tokens.ts';
import { RateLimitedError } from '../../../common/errors.ts';
import type { Services } from '../../context.ts';
import { newId } from '../../ids.ts';
import { networkOf } from '../../limits/network.ts';
import { newUserCode, showUserCode } from './user-code.ts';

/** Time for which a program waits for its user. */
export const authorizationMs = 10 * 60 * 1_000;
/** Maximum number of programs that wait in one network. */
const maxWaiting = 30;
/** Maximum length of the name that a program gives itself. */
export const maxClientNameLength = 100;

/** The codes of a program that waits for its user. */
export interface BegunAuthorization {
  /** Secret of the program; the token of its key after the approval. */
  readonly deviceCode: string;
  /** For the user, such as `WDJB-MJHT`. */
  readonly userCode: string;
}

const insert = `
  insert into device_authorization
      (id, device_code_hash, user_code_hash, display, client_name, address, network, status, created_at, expires_at)
  select $1, $2, $3, $4, $5, $6, $7, 'pending', $8::timestamptz, $9::timestamptz
   where (select count(*) from device_authorization where network = $7 and expires_at > $8::timestamptz) < $10
  returning id`;

/**
 * Begins to wait for a user who gives a program access. Only hashes of the codes are stored. Throws RATE_LIMITED if too many programs
 * of the same network wait.
 */
export async function beginDeviceAuthorization(
  { store, keyring, now }: Pick<Services, 'store' | 'keyring' | 'now'>,
  clientName: string,
  address: string | null,
): Promise<BegunAuthorization> {
  const deviceCode = newToken('PERSONAL_ACCESS_TOKEN');
  const userCode = newUserCode();
  const createdAt = now();
  const rows = await store.execute(insert, [
    newId(),
    keyring.hashToken(deviceCode),
    keyring.hashToken(userCode),
    displayToken(deviceCode),
    clientName,
    address,
    address === null ? '' : networkOf(address),
    createdAt,
    new Date(createdAt.getTime() + authorizationMs),
    maxWaiting,
  ]);
  if (rows.length === 0) {
    const resetSeconds = authorizationMs / 1_000;
    throw new RateLimitedError('Too many programs of this network wait for approval. Wait and try again.', {
      resetSeconds,
    });
  }
  return { deviceCode, userCode: showUserCode(userCode) };
}

/** Deletes authorizations that ended more than an hour ago. Until then, programs are told that they have expired. */
export async function forgetDeviceAuthorizations({ store, now }: Pick<Services, 'store' | 'now'>): Promise<void> {
  const hourAgo = new Date(now().getTime() - 60 * 60 * 1_000);
  await store.execute('delete from device_authorization where expires_at <= $1', [hourAgo]);
}
