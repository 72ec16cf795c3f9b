import { errorsWithin } from './errors-within.ts';

/** Returns true for the error of a request by https to a server that answered without TLS, such as one that speaks http only. */
export function isTlsMissing(error: unknown): boolean {
  // Node's https reports EPROTO and undici a code of OpenSSL: both messages have the reason of OpenSSL.
  return errorsWithin(error).some(({ message }) =>
    /SSL routines:.*:(?:wrong version number|packet length too long):/.test(message),
  );
}
