import { isIP } from 'node:net';

/**
 * A network: the address bits behind `prefix` are zero. IPv4-mapped IPv6 never appears here: it is read as the IPv4
 * address that it contains.
 */
interface Network {
  readonly family: 'ipv4' | 'ipv6';
  readonly bits: bigint;
  readonly prefix: number;
}

const width = { ipv4: 32, ipv6: 128 } as const;
/** ::ffff:0:0/96, above the 32 bits of the IPv4 address that it carries. */
const mappedPrefix = 0xffffn;

/**
 * Returns the canonical form of an address or a network in CIDR notation: the network's own address in its shortest
 * form (RFC 5952), and IPv4-mapped IPv6 (of 96 bits or more) as IPv4. `text` keeps the prefix as written, even one that
 * covers the whole address, so that a client finds its `/32` again. `network` is equal for all notations of the same
 * network. Returns null for anything else. An IPv6 zone (`%eth0`) means nothing to another machine and is refused.
 */
export function readIpRange(text: string): { readonly text: string; readonly network: string } | null {
  const parsed = parseNetwork(text);
  if (!parsed) return null;
  const address = writeAddress(parsed);
  const network = `${address}/${parsed.prefix}`;
  return { text: text.includes('/') ? network : address, network };
}

/**
 * Tells if a request may come from this address. An empty list allows every address. Otherwise the address must be
 * within one of the ranges, and IPv4-mapped IPv6 counts as IPv4. An unknown address is refused. The service's own
 * viewer has no address and is never checked here.
 */
export function isAddressAllowed(ranges: readonly string[], address: string | null): boolean {
  if (ranges.length === 0) return true;
  const network = address === null ? null : parseNetwork(address.replace(/%.*$/, ''));
  if (!network || network.prefix !== width[network.family]) return false;
  return compileRanges(ranges).some(
    ({ family, prefix, starts }) => family === network.family && starts.has(cut(network.bits, family, prefix)),
  );
}

/**
 * The networks with one prefix length. This replaces node:net's BlockList, which treats every IPv4 address as a part of
 * `::/0`.
 */
interface NetworkGroup {
  readonly family: Network['family'];
  readonly prefix: number;
  readonly starts: ReadonlySet<bigint>;
}

// A list is compiled on first use and cached while it is used. Each enterprise has one list.
const cache = new Map<string, readonly NetworkGroup[]>();
const maxCached = 100;

function compileRanges(ranges: readonly string[]): readonly NetworkGroup[] {
  const key = ranges.join(' ');
  const cached = cache.get(key);
  if (cached) return cached;
  const sizes = new Map<string, NetworkGroup & { starts: Set<bigint> }>();
  for (const network of ranges.map(parseNetwork)) {
    if (!network) continue;
    const { family, prefix, bits } = network;
    const size = sizes.get(`${family}/${prefix}`) ?? { family, prefix, starts: new Set() };
    sizes.set(`${family}/${prefix}`, size);
    size.starts.add(bits);
  }
  const list = [...sizes.values()];
  const [oldest] = cache.keys();
  if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest);
  cache.set(key, list);
  return list;
}

function parseNetwork(text: string): Network | null {
  const match = /^([0-9A-Fa-f:.]{2,45})(?:\/(0|[1-9]\d{0,2}))?$/.exec(text);
  const [, address = '', prefixText] = match ?? [];
  const version = isIP(address);
  if (version === 0) return null;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const bits = version === 4 ? ipv4Bits(address) : ipv6Bits(address);
  const prefix = prefixText === undefined ? width[family] : Number(prefixText);
  if (prefix > width[family]) return null;
  if (family === 'ipv6' && bits >> 32n === mappedPrefix && prefix >= 96) {
    return toNetwork('ipv4', bits & 0xffffffffn, prefix - 96);
  }
  return toNetwork(family, bits, prefix);
}

const toNetwork = (family: Network['family'], bits: bigint, prefix: number): Network => ({
  family,
  bits: cut(bits, family, prefix),
  prefix,
});

function cut(bits: bigint, family: Network['family'], prefix: number): bigint {
  const free = BigInt(width[family] - prefix);
  return (bits >> free) << free;
}

const ipv4Bits = (address: string) => address.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);

// Expects an address that isIP has accepted: at most one "::", and at most one dotted part, at the end.
function ipv6Bits(address: string): bigint {
  const dotted = /[^:]+\.[^:]+$/.exec(address)?.[0];
  const hexOnly = dotted ? address.slice(0, -dotted.length) + hexGroups(ipv4Bits(dotted)) : address;
  const [head = '', tail] = hexOnly.split('::');
  const groups = (part: string) => part.split(':').filter((group) => group !== '');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

const hexGroups = (bits: bigint) => `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;

function writeAddress({ family, bits }: Network): string {
  const size = family === 'ipv4' ? 8n : 16n;
  const parts: string[] = [];
  for (let at = BigInt(width[family]) - size; at >= 0n; at -= size) {
    parts.push(((bits >> at) & ((1n << size) - 1n)).toString(family === 'ipv4' ? 10 : 16));
  }
  if (family === 'ipv4') return parts.join('.');
  // RFC 5952: the first of the longest runs of two zero groups or more becomes "::".
  const text = parts.join(':');
  const [zeroRun] = [...text.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)].sort((a, b) => b[0].length - a[0].length);
  if (!zeroRun) return text;
  const head = text.slice(0, zeroRun.index).replace(/:$/, '');
  const tail = text.slice(zeroRun.index + zeroRun[0].length).replace(/^:/, '');
  return `${head}::${tail}`;
}
