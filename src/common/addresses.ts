import { lookup as lookupAddresses } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { readAddress } from './networks.ts';

/** Ranges of private networks. */
const ownRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/**
 * Tells if the service may send requests of users to an address: a public one, or with `allowPrivate` one of a private network. Never to
 * any other: addresses where clouds provide the credentials of machines, link-local addresses, multicast, and ranges that
 * embed another address.
 */
export function isAllowedAddress(address: string, allowPrivate: boolean): boolean {
  const read = readAddress(address);
  if (!read) return false;
  const range: string = read.range();
  if (cloudHosts.has(read.toString()) || (range === 'unicast' && isElsewhere(read))) return false;
  return range === 'unicast' || (allowPrivate && ownRanges.has(range));
}

/**
 * Addresses that are not link-local, where clouds provide the configuration and the credentials of a machine: Azure
 * (a public address), Alibaba Cloud, AWS and Google Cloud.
 */
const cloudHosts: ReadonlySet<string> = new Set(
  ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'].map((each) => ipaddr.parse(each).toString()),
);

// Of IPv6 only 2000::/3 is assigned to the internet; the rest, including ::/96 with embedded IPv4 addresses, has other
// purposes.
const isElsewhere = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address instanceof ipaddr.IPv6 && (address.parts[0] ?? 0) >> 13 !== 1;

/**
 * Thrown for a host without any allowed address. The message does not contain its addresses, which must not be
 * revealed.
 */
export class RefusedAddressError extends Error {
  constructor() {
    super('The host has no address that the service is allowed to connect to.');
    this.name = 'RefusedAddressError';
  }
}

/** Returns the address in a URL's host; null for a name. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? null : bare;
}

/**
 * Creates a lookup that resolves a name and returns its allowed addresses for the current connection, so that a later
 * response of a name server cannot change them. Throws RefusedAddressError if none is allowed.
 */
export function checkedLookup(allowPrivate: boolean, lookup: LookupFunction = lookupAddresses as LookupFunction) {
  const checked: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const all = Array.isArray(found) ? found : [];
      const usable = all.filter(({ address }) => isAllowedAddress(address, allowPrivate));
      const [first] = usable;
      if (!first) return callback(new RefusedAddressError(), []);
      return options.all ? callback(null, usable) : callback(null, first.address, first.family);
    });
  };
  return checked;
}
