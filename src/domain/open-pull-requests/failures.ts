import { DomainError } from '../../common/errors.ts';
import { plainLine } from '../../common/plain-text.ts';
import { type ForgeError, isForgeError } from '../../forges/interface/errors.ts';

/** Runs a call of a forge. A failure becomes INVALID_STATE with the forge's own sentence. */
export async function asDomainError<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isForgeError(error)) throw error;
    throw forgeFailure(error);
  }
}

/** The error of a caller whose call of a forge failed. `more`: a sentence before the forge's. */
export function forgeFailure(error: ForgeError, more = ''): DomainError {
  const message = `${more}${more === '' ? '' : ' '}${plainLine(error.message, 1_000)}`;
  return new DomainError('INVALID_STATE', message);
}

/** Tells if a forge may have done what it was asked, or does it later. */
export const isTemporary = (error: ForgeError): boolean =>
  isForgeError(error, 'UNREACHABLE', 'INVALID_RESPONSE', 'RATE_LIMITED');
