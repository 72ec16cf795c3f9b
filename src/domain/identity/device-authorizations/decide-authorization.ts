import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import { notFound, RateLimitedError, refuse } from '../../../common/errors.ts';
import type { Store, Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseInput } from '../../input.ts';
import { createOwnKey, requireOwnKey } from '../keys/api-keys.ts';
import { checkExpiry } from '../keys/expiry.ts';
import type { ApiKeyRecord } from '../keys/key-record.ts';
import { readUserCode } from './user-code.ts';

/** A program that waits for a user. */
export interface DeviceAuthorization {
  /** The name that the program gives itself. Nothing proves it. */
  readonly clientName: string;
  /** The address from which the program asked; null if unknown. */
  readonly address: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const userCodeSchema = z.string({ error: '"userCode" must be a text.' });

/** The values of an approval in inputs. */
export const approvalSchema = z.object({ userCode: userCodeSchema, expiresAt: z.date().nullish() });

const codeRule = '"userCode" must be the 8 letters that the program shows, such as WDJB-MJHT.';
const unknownCode = () => notFound('code, or it has expired or was used. Run the command again to get a new one');

interface PendingRow extends DeviceAuthorization {
  readonly id: string;
  readonly deviceCodeHash: string;
  readonly display: string;
}

const select = `
  select id, device_code_hash as "deviceCodeHash", display, client_name as "clientName", address, created_at as "createdAt",
      expires_at as "expiresAt"
    from device_authorization
   where user_code_hash = any($1::text[]) and status = 'pending' and expires_at > $2::timestamptz`;

async function findPending(context: Context, source: Pick<Store, 'query'>, text: string, lock: '' | ' for update') {
  const code = readUserCode(text);
  if (code === null) throw refuse(['userCode'], codeRule);
  const [row] = await source.query<PendingRow>(select + lock, [context.keyring.tokenHashes(code), context.now()]);
  return row ?? null;
}

/**
 * Returns the program that waits with a code; null if there is none. Throws INVALID_INPUT for a text that cannot be a code; FORBIDDEN
 * for a viewer that can create no key for itself; RATE_LIMITED for a viewer with too many wrong codes.
 */
export async function findDeviceAuthorization(context: Context, userCode: string): Promise<DeviceAuthorization | null> {
  await requireOwnKey(context);
  return withLimit(context, () => findPending(context, context.store, userCode, ''));
}

/**
 * Looks a code up for a viewer. Codes are short, so that a viewer with too many wrong ones gets RATE_LIMITED also for a right one: the
 * look-up is paid before, and refunded if it finds the code. `find` returns null for a wrong code.
 */
async function withLimit<T>({ limits, viewer }: Context, find: () => Promise<T | null>): Promise<T | null> {
  const key = `device-code:${viewer.principal.id}`;
  const spending = await limits.login.spend(key);
  if (spending?.isAllowed === false) throw new RateLimitedError('Too many wrong codes. Wait and try again.', spending);
  const found = await find();
  if (found !== null && spending !== null) limits.login.giveBack(key, 1, spending);
  return found;
}

/**
 * Creates a key that acts as the viewer, for the program that waits with a code. The token is the device code, which only the program
 * has. Throws INVALID_INPUT, FORBIDDEN, NOT_FOUND, RATE_LIMITED; CONFIRMATION_REQUIRED.
 */
export async function approveDeviceAuthorization(
  context: Context,
  raw: z.input<typeof approvalSchema>,
): Promise<ApiKeyRecord> {
  const { userCode, expiresAt = null } = parseInput(approvalSchema, raw);
  checkExpiry(context, expiresAt);
  const owner = await requireOwnKey(context);
  requireConfirmation(context);
  const apiKey = await withLimit(context, () =>
    context.store.transact(async (tx) => {
      const row = await findPending(context, tx, userCode, ' for update');
      if (row === null) return null;
      const stored = { tokenHash: row.deviceCodeHash, display: row.display };
      const key = await createOwnKey(context, tx, { ...owner, name: row.clientName, expiresAt }, stored);
      await decide(context, tx, row.id, 'approved', key.id);
      return key;
    }),
  );
  if (apiKey === null) throw unknownCode();
  return apiKey;
}

/** Refuses the program that waits with a code. Throws INVALID_INPUT, FORBIDDEN, NOT_FOUND, RATE_LIMITED. */
export async function denyDeviceAuthorization(context: Context, userCode: string): Promise<void> {
  await requireOwnKey(context);
  const denied = await withLimit(context, () =>
    context.store.transact(async (tx) => {
      const row = await findPending(context, tx, userCode, ' for update');
      if (row === null) return null;
      await decide(context, tx, row.id, 'denied', null);
      const { clientName } = row;
      await audit(context, tx, 'deny_device_authorization', { organizationId: null, data: { clientName } });
      return row;
    }),
  );
  if (denied === null) throw unknownCode();
}

async function decide(
  { viewer }: Context,
  tx: Transaction,
  id: string,
  status: 'approved' | 'denied',
  apiKeyId: string | null,
): Promise<void> {
  await tx.query(
    'update device_authorization set status = $2, api_key_id = $3, enterprise_id = $4 where id = $1 returning id',
    [id, status, apiKeyId, viewer.enterpriseId],
  );
}
