import { endOfKey } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';

/** INVALID_INPUT at `name` for an end that is not to come, or is after that of the key that asks; null: no end. */
export function checkExpiry(context: Context, expiresAt: Date | null, name: string = 'expiresAt'): void {
  const path = [name];
  if (expiresAt !== null && !(expiresAt > context.now())) throw refuse(path, `"${name}" must be in the future.`);
  if (expiresAt !== null && expiresAt.getUTCFullYear() > 9999)
    throw refuse(path, `"${name}" must not be after the year 9999.`);
  // A key that ends must not outlive itself through one that it made. Being signed in to the console ends sooner than the
  // key does, which is no reason that a key that is made there should.
  const own = endOfKey(context.viewer);
  if (own !== null && (expiresAt === null || expiresAt > own)) {
    throw refuse(path, `"${name}" must not be after the end of the key that asks, ${own.toISOString()}.`);
  }
}
