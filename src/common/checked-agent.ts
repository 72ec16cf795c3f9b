import type { LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { checkedLookup, isAllowedAddress, literalAddress, RefusedAddressError } from './addresses.ts';

/** Options of {@link createCheckedAgent}. */
interface CheckedAgentOptions {
  readonly allowPrivate: boolean;
  /** Maximum wait for a connection, for the headers of a response, and for each part of its body. */
  readonly timeoutMs: number;
  /** Resolves names; the system's resolver if omitted. */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * Creates a dispatcher of requests to hosts that users name. It connects to public addresses only, unless private ones are
 * allowed: the address is checked for each connection, after the name was resolved. Connections are not reused. The
 * request fails with a RefusedAddressError, perhaps as the cause of another error.
 */
export function createCheckedAgent({ allowPrivate, timeoutMs, lookup }: CheckedAgentOptions): Agent {
  const connect = buildConnector({ lookup: checkedLookup(allowPrivate, lookup), timeout: timeoutMs });
  return new Agent({
    // A reused connection would not be checked again.
    pipelining: 0,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect(target, callback) {
      // Without a name there is no lookup: Node connects to the address at once.
      const address = literalAddress(target.hostname);
      if (address !== null && !isAllowedAddress(address, allowPrivate)) {
        return callback(new RefusedAddressError(), null);
      }
      return connect(target, callback);
    },
  });
}
