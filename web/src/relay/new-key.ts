/**
 * A new idempotency key: a request repeated with it runs once. Not crypto.randomUUID, which is missing on pages served
 * by plain http from another host.
 */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
