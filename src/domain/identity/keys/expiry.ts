import { endOfKey } from '../../../auth/viewer.ts';
import { refuse } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';

/**
 * Throws INVALID_INPUT at `name` for an expiry that is in the past, or after that of the caller's key; null: no expiry.
 */
export function checkExpiry(context: Context, expiresAt: Date | null, name: string = 'expiresAt'): void {
  const path = [name];
  if (expiresAt !== null && !(expiresAt > context.now())) throw refuse(path, `"${name}" must be in the future.`);
  if (expiresAt !== null && expiresAt.getUTCFullYear() > 9999)
    throw refuse(path, `"${name}" must not be after the year 9999.`);
  // A key that expires must not outlive itself through a key that it created. A console session ends sooner than its
  // key, which does not limit the keys that are created there.
  const own = endOfKey(context.viewer);
  if (own !== null && (expiresAt === null || expiresAt > own)) {
    throw refuse(path, `"${name}" must not be after the end of the key that asks, ${own.toISOString()}.`);
  }
}
