import { parseUrl } from '../../../common/parse-url.ts';

/** Returns the problem of a secret for one-time passwords, or null: it must be base32, or the URL of a QR code. */
export function totpProblem(value: string): string | null {
  const seed = /^otpauth:/i.test(value) ? seedOfAddress(value) : value;
  if (seed !== null && isBase32(seed)) return null;
  return '"value" must be a seed for one-time passwords: base32 (A–Z, 2–7) of at least 80 bits, or an otpauth://totp/… address with such a "secret".';
}

function seedOfAddress(address: string): string | null {
  const url = parseUrl(address);
  return url?.host.toLowerCase() === 'totp' ? url.searchParams.get('secret') : null;
}

// As sites show them: in groups, in lower case, with or without padding.
function isBase32(seed: string): boolean {
  return /^[A-Z2-7]{16,256}=*$/i.test(seed.replaceAll(/[ -]/g, ''));
}
