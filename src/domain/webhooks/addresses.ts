import { lookup as lookupAddresses } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Ranges of networks that people have for themselves. */
const ownRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'carrierGradeNat']);

/**
 * Whether webhooks may be sent to an address: a public one, or with `allowPrivate` one of the own networks. Never to what is
 * neither: link-local (where clouds keep the credentials of machines), multicast, and ranges that carry another address.
 */
export function isWebhookAddress(address: string, allowPrivate: boolean): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Read as mapped by the parser, but not by those who connect.
  if (/^::(?!ffff:).*\./i.test(address)) return false;
  // IPv4-mapped IPv6 is read as the IPv4 address that it stands for.
  const read = ipaddr.process(address);
  const range: string = read.range();
  if (range === 'unicast' && isElsewhere(read)) return false;
  return range === 'unicast' || (allowPrivate && ownRanges.has(range));
}

/** Public by its number, but answered by the machine below: it gives Azure's machines their configuration. */
const azureHost = '168.63.129.16';

// Of IPv6 only 2000::/3 is given out for the internet; the rest, ::/96 with IPv4 addresses in it among it, is for other things.
const isElsewhere = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address instanceof ipaddr.IPv6 ? (address.parts[0] ?? 0) >> 13 !== 1 : address.toString() === azureHost;

/** A host of which no address may be sent to. It does not say which it has: that is nobody's business outside. */
export class RefusedAddressError extends Error {
  constructor() {
    super('The host has no address that webhooks may be sent to.');
    this.name = 'RefusedAddressError';
  }
}

/** The address of a URL's host when it is written as one; null for a name. */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? null : bare;
}

/**
 * Finds the addresses of a name, and gives those that may be sent to, for the connection that is being made: what a name
 * server says later is never asked for. RefusedAddressError when none is left.
 */
export function checkedLookup(allowPrivate: boolean, lookup: LookupFunction = lookupAddresses as LookupFunction) {
  const checked: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const all = Array.isArray(found) ? found : [];
      const usable = all.filter(({ address }) => isWebhookAddress(address, allowPrivate));
      const [first] = usable;
      if (!first) return callback(new RefusedAddressError(), []);
      return options.all ? callback(null, usable) : callback(null, first.address, first.family);
    });
  };
  return checked;
}
