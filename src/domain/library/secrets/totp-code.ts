import { createHmac } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const algorithms = { SHA1: 'sha1', SHA256: 'sha256', SHA512: 'sha512' } as const;

/** A one-time password and the time for which it stays valid. */
export interface TotpCode {
  readonly code: string;
  readonly secondsLeft: number;
}

/** Returns the one-time password (RFC 6238) of a seed, in base32 or as an otpauth:// URL, at a time. */
export function totpCode(value: string, now: Date): TotpCode {
  const { seed, digits, periodSeconds, algorithm } = readSeed(value);
  const seconds = Math.floor(now.getTime() / 1_000);
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(seconds / periodSeconds)));
  const digest = createHmac(algorithm, decodeBase32(seed)).update(counter).digest();
  const offset = (digest.at(-1) as number) & 0xf;
  const number = (digest.readUInt32BE(offset) & 0x7f_ff_ff_ff) % 10 ** digits;
  return { code: String(number).padStart(digits, '0'), secondsLeft: periodSeconds - (seconds % periodSeconds) };
}

function readSeed(value: string): { seed: string; digits: number; periodSeconds: number; algorithm: string } {
  const defaults = { seed: value, digits: 6, periodSeconds: 30, algorithm: 'sha1' };
  if (!/^otpauth:/i.test(value)) return defaults;
  const { searchParams } = new URL(value);
  const number = (name: string, min: number, max: number, fallback: number) => {
    const parameter = Number(searchParams.get(name) ?? fallback);
    return Number.isInteger(parameter) && parameter >= min && parameter <= max ? parameter : fallback;
  };
  const named = (searchParams.get('algorithm') ?? 'SHA1').toUpperCase();
  return {
    seed: searchParams.get('secret') ?? '',
    digits: number('digits', 6, 9, 6),
    periodSeconds: number('period', 1, 3_600, 30),
    algorithm: algorithms[named as keyof typeof algorithms] ?? 'sha1',
  };
}

// As sites show them: in groups, in lower case, with or without padding.
function decodeBase32(seed: string): Buffer {
  const bytes: number[] = [];
  let bits = 0;
  let accumulator = 0;
  for (const character of seed.toUpperCase().replaceAll(/[^A-Z2-7]/g, '')) {
    accumulator = (accumulator << 5) | alphabet.indexOf(character);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((accumulator >> bits) & 0xff);
    accumulator &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}
