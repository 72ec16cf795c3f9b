import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The first address of a network, and the number of its leading bits. IPv4-mapped IPv6 is read as the IPv4 that it contains. */
type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number];

/** Reads an IPv4 or IPv6 address; IPv4-mapped IPv6 as the IPv4 address that it contains. Null for anything else. */
export const readAddress = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | null =>
  text.includes('/') ? null : (parseNetwork(text)?.[0] ?? null);

/** Reads an address or a network in CIDR notation; null for anything else. */
export function parseNetwork(text: string): Network | null {
  const match = /^([0-9A-Fa-f:.]{2,45})(?:\/(0|[1-9]\d{0,2}))?$/.exec(text);
  const [, address = '', prefixText] = match ?? [];
  // isIP refuses what ipaddr.js would also take, such as "1" or "0x7f.1".
  const version = isIP(address);
  if (version === 0) return null;
  const width = version === 4 ? 32 : 128;
  const prefix = prefixText === undefined ? width : Number(prefixText);
  if (prefix > width) return null;
  const read = ipaddr.parse(version === 6 ? withoutDots(address) : address);
  if (read instanceof ipaddr.IPv6 && read.isIPv4MappedAddress() && prefix >= 96) {
    return firstOf(read.toIPv4Address(), prefix - 96);
  }
  return firstOf(read, prefix);
}

// ipaddr.js reads "::10.1.2.3" as "::ffff:10.1.2.3", another address. URLs write the last 32 bits as hexadecimal groups.
const withoutDots = (address: string) =>
  address.includes('.') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;

/** Returns the network that an address belongs to: the bits behind the prefix are zero. */
export function firstOf(address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): Network {
  const cidr = `${address.toString()}/${prefix}`;
  const { IPv4, IPv6 } = ipaddr;
  return [address instanceof IPv6 ? IPv6.networkAddressFromCIDR(cidr) : IPv4.networkAddressFromCIDR(cidr), prefix];
}
