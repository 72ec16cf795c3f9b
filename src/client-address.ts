import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4, SocketAddress } from 'node:net';
import proxyAddr from 'proxy-addr';
import type { Config } from './config/config.ts';
import { networkOf } from './domain/usage/limits/network.ts';

/** Whose address a request has; null when its connection has gone. */
export type AddressOf = (request: IncomingMessage) => string | null;

/**
 * Tells callers' addresses: of the proxies that are trusted, each is believed about whom it asks for (X-Forwarded-For); of
 * others what they say is not read. Where a proxy that is trusted says what is no address, its own counts.
 */
export function createAddressOf(trustProxy: Config['trustProxy']): AddressOf {
  const isTrustedNetwork = typeof trustProxy === 'number' ? null : proxyAddr.compile([...trustProxy]);
  const isTrusted = (text: string | undefined, hop: number) => {
    const address = readAddress(text);
    if (address === null) return false;
    return isTrustedNetwork ? isTrustedNetwork(address, hop) : hop < (trustProxy as number);
  };
  return (request) => {
    // From the connection outwards, to the first that is not trusted.
    const hops: (string | undefined)[] = proxyAddr.all(request, isTrusted);
    return hops.map(readAddress).findLast((address) => address !== null) ?? null;
  };
}

/** The IPv4 address, or the /64 of the IPv6 address, whose connections are counted together. */
export function connectionNetwork(address: string): string {
  return networkOf(readAddress(address) ?? address);
}

/**
 * An address in the one way that we write it: IPv4, also where it came inside an IPv6 one, or IPv6 in its short form,
 * without a zone. Some proxies write a port with it, which is left away. Null for anything else.
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
