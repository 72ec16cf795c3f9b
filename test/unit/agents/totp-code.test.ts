import { describe, expect, it } from 'vitest';
import { totpCode } from '../../../src/domain/library/secrets/totp-code.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(bytes: string): string {
  const bits = [...Buffer.from(bytes)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

// RFC 6238, appendix B. The keys of the longer hashes have the length of the hash: the RFC's text says otherwise, but
// its program does this.
const digits = '1234567890';
const seeds = {
  SHA1: base32(digits.repeat(2)),
  SHA256: base32(digits.repeat(3) + digits.slice(0, 2)),
  SHA512: base32(digits.repeat(6) + digits.slice(0, 4)),
};
const vectors = [
  [59, '94287082', '46119246', '90693936'],
  [1_111_111_109, '07081804', '68084774', '25091201'],
  [1_111_111_111, '14050471', '67062674', '99943326'],
  [1_234_567_890, '89005924', '91819424', '93441116'],
  [2_000_000_000, '69279037', '90698825', '38618901'],
  [20_000_000_000, '65353130', '77737706', '47863826'],
] as const;
const at = (seconds: number) => new Date(seconds * 1_000);

describe('a one-time password', () => {
  it.each(vectors)('equals that of RFC 6238 at %i s, with each of its hashes', (seconds, sha1, sha256, sha512) => {
    const codeOf = (algorithm: keyof typeof seeds) =>
      totpCode(`otpauth://totp/a:b?secret=${seeds[algorithm]}&algorithm=${algorithm}&digits=8`, at(seconds)).code;
    expect([codeOf('SHA1'), codeOf('SHA256'), codeOf('SHA512')]).toEqual([sha1, sha256, sha512]);
  });

  it('has six digits of SHA1 every 30 s for a plain seed, in any notation', () => {
    const { SHA1: seed } = seeds;
    const grouped = (seed.match(/.{4}/g) ?? []).join(' ').toLowerCase();
    for (const written of [seed, grouped, `${seed}====`, `otpauth://totp/x?secret=${seed}`])
      expect(totpCode(written, at(1_111_111_109))).toEqual({ code: '081804', secondsLeft: 1 });
    expect(totpCode(seed, at(1_111_111_110)).secondsLeft).toBe(30);
  });

  it('uses the period in its URL', () => {
    const address = `otpauth://totp/x?secret=${seeds.SHA1}&period=60&digits=8`;
    // The same time step as the first vector, which has twice the length here.
    expect(totpCode(address, at(119))).toEqual({ code: '94287082', secondsLeft: 1 });
    expect(totpCode(address, at(60))).toEqual({ code: '94287082', secondsLeft: 60 });
  });
});
