import { expect, it } from 'vitest';
import { isAllowedAddress } from '../../../src/common/addresses.ts';

it.each([
  ['8.8.8.8', true, true],
  ['2606:4700::1111', true, true],
  ['::ffff:8.8.8.8', true, true],
  ['10.1.2.3', false, true],
  ['::ffff:10.1.2.3', false, true],
  ['fd00::1', false, true],
  // IPv4-compatible addresses are deprecated: in each notation they are IPv6, and not the IPv4 address that they contain.
  ['::10.1.2.3', false, false],
  ['0::10.1.2.3', false, false],
  ['0:0:0:0:0:0:10.1.2.3', false, false],
  ['::8.8.8.8', false, false],
  ['0::8.8.8.8', false, false],
  ['0:0::808:808', false, false],
  ['169.254.169.254', false, false],
  ['fe80::1%eth0', false, false],
  ['168.63.129.16', false, false],
  ['100.100.100.200', false, false],
  ['::ffff:100.100.100.200', false, false],
  ['100.100.100.201', false, true],
  ['fd00:ec2::254', false, false],
  ['fd00:0ec2:0:0:0:0:0:254', false, false],
  ['fd20:ce::254', false, false],
  ['010.1.2.3', false, false],
  ['167838211', false, false],
  ['10.1.2.0/24', false, false],
])('allows %s: %s, with private networks %s', (address, inPublic, inPrivate) => {
  expect([isAllowedAddress(address, false), isAllowedAddress(address, true)]).toEqual([inPublic, inPrivate]);
});
