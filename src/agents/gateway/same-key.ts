import { timingSafeEqual } from 'node:crypto';

/** Compares two keys in a time that depends on their lengths only. */
export function isSameKey(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
