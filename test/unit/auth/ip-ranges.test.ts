import { BlockList, isIPv4 } from 'node:net';
import { describe, expect, it, test } from 'vitest';
import { isAddressAllowed, readIpRange } from '../../../src/auth/ip-ranges.ts';

describe('readIpRange', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.7/32', '203.0.113.7/32', '203.0.113.7/32'],
    ['10.1.2.3/8', '10.0.0.0/8', '10.0.0.0/8'],
    ['10.255.255.255/9', '10.128.0.0/9', '10.128.0.0/9'],
    ['255.255.255.255/31', '255.255.255.254/31', '255.255.255.254/31'],
    ['1.2.3.4/0', '0.0.0.0/0', '0.0.0.0/0'],
    ['::', '::', '::/128'],
    ['::1', '::1', '::1/128'],
    ['::1/128', '::1/128', '::1/128'],
    ['ABCD::1/0', '::/0', '::/0'],
    ['2001:DB8:0000:0000:0001:0:0:1', '2001:db8::1:0:0:1', '2001:db8::1:0:0:1/128'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1/128'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3', '1:0:0:2::3/128'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33', '2001:db8:8000::/33'],
    ['2001:db8::ffff/127', '2001:db8::fffe/127', '2001:db8::fffe/127'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201', '64:ff9b::c000:201/128'],
    ['::ffff:10.1.2.3', '10.1.2.3', '10.1.2.3/32'],
    ['::ffff:a01:203/128', '10.1.2.3/32', '10.1.2.3/32'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8', '10.0.0.0/8'],
    ['::ffff:0:0/96', '0.0.0.0/0', '0.0.0.0/0'],
    ['::ffff:0:0/95', '::fffe:0:0/95', '::fffe:0:0/95'],
  ])('%s is normalized to %s and means %s', (input, text, network) => {
    expect(readIpRange(input)).toEqual({ text, network });
    expect(readIpRange(text)).toEqual({ text, network });
  });

  test.each([
    '',
    ' ',
    ' 1.2.3.4',
    '1.2.3',
    '1.2.3.4.5',
    '256.0.0.1',
    '01.2.3.4',
    '0x7f.1',
    '2130706433',
    '1.2.3.4/',
    '1.2.3.4/33',
    '1.2.3.4/-1',
    '1.2.3.4/08',
    '1.2.3.4/8/8',
    '1.2.3.4/8.0',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0-10.0.0.9',
    '1:2:3:4:5:6:7',
    '1::2::3',
    '::/129',
    '::g',
    'fe80::1%eth0',
    '[::1]',
    'localhost',
    '1.2.3.4\n',
    '1.2.3.4\u0000',
  ])('%j is invalid', (input) => {
    expect(readIpRange(input)).toBeNull();
  });
});

describe('isAddressAllowed', () => {
  it('allows everything without ranges', () => {
    expect(isAddressAllowed([], '203.0.113.7')).toBe(true);
    expect(isAddressAllowed([], null)).toBe(true);
  });

  test.each<[string[], string, boolean]>([
    [['10.0.0.0/8'], '10.0.0.0', true],
    [['10.0.0.0/8'], '10.255.255.255', true],
    [['10.0.0.0/8'], '9.255.255.255', false],
    [['10.0.0.0/8'], '11.0.0.0', false],
    [['10.0.0.0/8'], '::ffff:10.1.2.3', true],
    [['10.0.0.0/8'], '::ffff:a01:203', true],
    [['10.0.0.0/8'], '::10.1.2.3', false],
    [['203.0.113.7'], '203.0.113.7', true],
    [['203.0.113.7'], '203.0.113.6', false],
    [['203.0.113.6/31'], '203.0.113.7', true],
    [['203.0.113.6/31'], '203.0.113.8', false],
    [['0.0.0.0/0'], '203.0.113.7', true],
    [['0.0.0.0/0'], '::ffff:203.0.113.7', true],
    [['0.0.0.0/0'], '::1', false],
    [['::/0'], '::1', true],
    [['::/0'], '203.0.113.7', false],
    [['::/0'], '::ffff:203.0.113.7', false],
    [['::fffe:0:0/95'], '203.0.113.7', false],
    [['2001:db8::/33'], '2001:db8:7fff::1', true],
    [['2001:db8::/33'], '2001:db8:8000::1', false],
    [['fe80::/10'], 'fe80::1%eth0', true],
    [['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'], '192.0.2.1', true],
    [['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'], '2001:db8::9', true],
    [['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'], '192.0.2.2', false],
  ])('%j and %s: %j', (ranges, address, isAllowed) => {
    expect(isAddressAllowed(ranges, address)).toBe(isAllowed);
  });

  test.each([null, '', 'unix', 'localhost', '10.0.0.1/8', '10.0.0.1:4000'])(
    'refuses an invalid address if there are ranges: %j',
    (address) => {
      expect(isAddressAllowed(['0.0.0.0/0', '::/0'], address)).toBe(false);
    },
  );

  it('agrees with node:net about every prefix length, just inside and just outside of the range', () => {
    const ipv6 = (bits: bigint) =>
      (bits.toString(16).padStart(32, '0').match(/.{4}/g) ?? [])
        .map((group) => Number.parseInt(group, 16).toString(16))
        .join(':');
    const ipv4 = (bits: bigint) => [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join('.');
    const families = [
      { width: 32, text: ipv4, base: 0xc0a85aa5n },
      { width: 128, text: ipv6, base: 0x20010db85aa55aa55aa55aa55aa55aa5n },
    ];
    let compared = 0;
    for (const { width, text, base } of families) {
      const all = 1n << BigInt(width);
      for (let prefix = 0; prefix <= width; prefix++) {
        const size = 1n << BigInt(width - prefix);
        const start = (base / size) * size;
        const range = readIpRange(`${text(base)}/${prefix}`);
        const list = new BlockList();
        const family = isIPv4(text(base)) ? 'ipv4' : 'ipv6';
        list.addSubnet(text(start), prefix, family);
        for (const address of [start, start + size - 1n, base, start - 1n, start + size].filter(
          (at) => at >= 0n && at < all,
        )) {
          const isInside = address >= start && address < start + size;
          expect(isAddressAllowed([range?.text ?? ''], text(address)), `${range?.text} ${text(address)}`).toBe(
            isInside,
          );
          expect(list.check(text(address), family), `node:net, ${range?.text} ${text(address)}`).toBe(isInside);
          compared += 1;
        }
      }
    }
    expect(compared).toBeGreaterThan(700);
  });

  it('applies the given list, with many lists in use', () => {
    const lists = Array.from({ length: 250 }, (_, n) => [`10.0.${n}.0/24`]);
    for (let round = 0; round < 2; round++) {
      for (const [n, list] of lists.entries()) {
        expect(isAddressAllowed(list, `10.0.${n}.9`)).toBe(true);
        expect(isAddressAllowed(list, `10.0.${n + 1}.9`)).toBe(false);
      }
    }
  });
});
