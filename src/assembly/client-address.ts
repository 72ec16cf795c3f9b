import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4, SocketAddress } from 'node:net';
import proxyAddr from 'proxy-addr';
import type { Config } from '../config/config.ts';
import { networkOf } from '../domain/limits/network.ts';

/** Returns the caller's address of a request; null if its connection has closed. */
export type AddressOf = (request: IncomingMessage) => string | null;

/**
 * Returns a function that finds callers' addresses. It follows X-Forwarded-For through trusted proxies, and ignores the
 * header of any other sender. If a trusted proxy names an invalid address, the proxy's own address counts.
 */
export function createAddressOf(trustProxy: Config['trustProxy']): AddressOf {
  const isTrustedNetwork = typeof trustProxy === 'number' ? null : proxyAddr.compile([...trustProxy]);
  const isTrusted = (text: string | undefined, hop: number) => {
    const address = readAddress(text);
    if (address === null) return false;
    return isTrustedNetwork ? isTrustedNetwork(address, hop) : hop < (trustProxy as number);
  };
  return (request) => {
    // From the connection outwards, to the first address that is not trusted.
    const hops: (string | undefined)[] = proxyAddr.all(request, isTrusted);
    return hops.map(readAddress).findLast((address) => address !== null) ?? null;
  };
}

/** The network whose connections are counted together: an IPv4 address, or the /64 of an IPv6 address. */
export function connectionNetwork(address: string): string {
  return networkOf(readAddress(address) ?? address);
}

/**
 * Normalizes an address: IPv4, also when mapped into IPv6, or IPv6 in its short form without a zone. Drops a port,
 * which some proxies add. Null for anything else.
 */
export function readAddress(text: string | undefined): string | null {
  const [, bracketed, withPort] = /^\[([^\]]*)\](?::\d+)?$|^([^:]*):\d+$/.exec(text ?? '') ?? [];
  const [address = ''] = (bracketed ?? withPort ?? text ?? '').split('%');
  if (isIPv4(address)) return address;
  if (isIP(address) === 0) return null;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  const embeddedIpv4 = /^::ffff:([\d.]+)$/.exec(canonical)?.[1];
  return embeddedIpv4 !== undefined && isIPv4(embeddedIpv4) ? embeddedIpv4 : canonical;
}
