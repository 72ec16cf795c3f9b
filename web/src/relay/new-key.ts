/**
 * A new idempotency key: what is sent again with it is done once. Not crypto.randomUUID, which pages that come by plain http
 * from another host do not have.
 */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
