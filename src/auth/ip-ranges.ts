import ipaddr from 'ipaddr.js';
import { firstOf, parseNetwork, readAddress } from '../common/networks.ts';

/**
 * Returns the canonical form of an address or a network in CIDR notation: the network's own address in its shortest
 * form (RFC 5952), and IPv4-mapped IPv6 (of 96 bits or more) as IPv4. `text` keeps the prefix as written, even one that
 * covers the whole address, so that a client finds its `/32` again. `network` is equal for all notations of the same
 * network. Returns null for anything else. An IPv6 zone (`%eth0`) means nothing to another machine and is refused.
 */
export function readIpRange(text: string): { readonly text: string; readonly network: string } | null {
  const parsed = parseNetwork(text);
  if (!parsed) return null;
  const [first, prefix] = parsed;
  const address = first instanceof ipaddr.IPv6 ? first.toRFC5952String() : first.toString();
  const network = `${address}/${prefix}`;
  return { text: text.includes('/') ? network : address, network };
}

/**
 * Tells if a request may come from this address. An empty list allows every address. Otherwise the address must be
 * within one of the ranges, and IPv4-mapped IPv6 counts as IPv4. An unknown address is refused. The service's own
 * viewer has no address and is never checked here.
 */
export function isAddressAllowed(ranges: readonly string[], address: string | null): boolean {
  if (ranges.length === 0) return true;
  const caller = address === null ? null : readAddress(address.replace(/%.*$/, ''));
  if (!caller) return false;
  return compileRanges(ranges).some(
    ({ kind, prefix, firsts }) => kind === caller.kind() && firsts.has(firstOf(caller, prefix)[0].toString()),
  );
}

/** The networks of one family with one prefix length, by their first addresses: a list has up to 1,000 networks. */
interface NetworkGroup {
  readonly kind: 'ipv4' | 'ipv6';
  readonly prefix: number;
  readonly firsts: ReadonlySet<string>;
}

// A list is compiled on first use and cached while it is used. Each enterprise has one list.
const cache = new Map<string, readonly NetworkGroup[]>();
const maxCached = 100;

function compileRanges(ranges: readonly string[]): readonly NetworkGroup[] {
  const key = ranges.join(' ');
  const cached = cache.get(key);
  if (cached) return cached;
  const groups = new Map<string, NetworkGroup & { readonly firsts: Set<string> }>();
  for (const range of ranges) {
    const [first, prefix] = parseNetwork(range) ?? [];
    if (!first || prefix === undefined) continue;
    const kind = first.kind();
    const group = groups.get(`${kind}/${prefix}`) ?? { kind, prefix, firsts: new Set() };
    groups.set(`${kind}/${prefix}`, group);
    group.firsts.add(first.toString());
  }
  const list = [...groups.values()];
  const [oldest] = cache.keys();
  if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest);
  cache.set(key, list);
  return list;
}
