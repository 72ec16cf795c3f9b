import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createAddressOf, readAddress } from '../../src/assembly/client-address.ts';

const request = (remoteAddress: string | undefined, forwardedFor?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
  }) as unknown as IncomingMessage;

describe('an address has one normalized form', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['192.0.2.1:8080', '192.0.2.1'],
    ['[2001:db8::1]:8080', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['127.1', null],
    ['0x7f.0.0.1', null],
    ['1', null],
    ['unknown', null],
    ['_hidden', null],
    ['', null],
    ['[]', null],
    ['999.1.1.1', null],
    ['192.0.2.1; drop table', null],
    [undefined, null],
  ])('%j: %j', (text, address) => {
    expect(readAddress(text)).toBe(address);
  });
});

describe('the address of a request', () => {
  it.each([
    ['is its connection’s when nobody is trusted', 0, '127.0.0.1', '192.0.2.1', '127.0.0.1'],
    ['is what a trusted proxy says', ['loopback'], '127.0.0.1', '192.0.2.1', '192.0.2.1'],
    [
      'is what a trusted proxy says, whose address is written as IPv6',
      ['loopback'],
      '::ffff:127.0.0.1',
      '192.0.2.1',
      '192.0.2.1',
    ],
    ['is not what another one says', ['10.0.0.0/8'], '127.0.0.1', '192.0.2.1', '127.0.0.1'],
    [
      'is said by the last that is trusted',
      ['loopback', '10.0.0.0/8'],
      '127.0.0.1',
      '198.51.100.7, 192.0.2.1, 10.1.2.3',
      '192.0.2.1',
    ],
    ['counts hops', 1, '10.0.0.1', '198.51.100.7, 192.0.2.1', '192.0.2.1'],
    ['counts more hops', 2, '10.0.0.1', '198.51.100.7, 192.0.2.1', '198.51.100.7'],
    ['is the first where all are trusted', 5, '10.0.0.1', '198.51.100.7, 192.0.2.1', '198.51.100.7'],
    ['is the proxy’s where it says what is none', ['loopback'], '127.0.0.1', 'unknown', '127.0.0.1'],
    ['is the nearest that is one', 3, '10.0.0.1', '198.51.100.7, garbage, 192.0.2.1', '192.0.2.1'],
    ['is the proxy’s where it says nothing', ['loopback'], '127.0.0.1', undefined, '127.0.0.1'],
    ['is not known when its connection has gone', 1, undefined, '192.0.2.1', null],
  ] as const)('%s', (_what, trustProxy, remote, forwardedFor, address) => {
    expect(createAddressOf(trustProxy)(request(remote, forwardedFor))).toBe(address);
  });
});
