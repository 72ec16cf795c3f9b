import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../http/responses.ts';
import { ForgeError, invalidResponse } from '../interface/errors.ts';
import { maxWebhookBytes } from '../interface/events.ts';

/** Tells if a value is the HMAC-SHA256 of a body, in hexadecimal. Takes the same time for each value. */
export function isHmac(secret: string, body: Uint8Array, hex: string): boolean {
  return isSame(hex.toLowerCase(), createHmac('sha256', secret).update(body).digest('hex'));
}

/** Compares two secrets in a time that does not depend on their content. */
export function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((each) => createHash('sha256').update(each).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

/** SHA-256 in hexadecimal. */
export const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');

/** INVALID_SIGNATURE. The message is for the administrators of the connection, and contains nothing of the request. */
export function invalidSignature(hasSecret: boolean): ForgeError {
  const message = hasSecret
    ? 'The signature is missing or wrong: the webhook at the forge has another secret than this connection, or none.'
    : 'The connection has no secret for webhooks, so it accepts none.';
  return new ForgeError('INVALID_SIGNATURE', message);
}

/** Refuses a body that is too long, before anything else reads it. */
export function limitBody(body: Uint8Array, host: string): void {
  if (body.length > maxWebhookBytes) throw invalidResponse(host, `its webhook is longer than ${maxWebhookBytes} bytes`);
}

/** Parses the verified body of a webhook: JSON, or the form field `payload` with JSON, which GitHub sends by default. */
export function parsePayload(body: Uint8Array, contentType: string | undefined, host: string): unknown {
  if (!contentType?.startsWith('application/x-www-form-urlencoded')) return parseJson(body, host);
  return parseJson(new URLSearchParams(new TextDecoder().decode(body)).get('payload') ?? '', host);
}

/** The members of a payload. Its check as an envelope has shown that it is an object. */
export const toPayload = (payload: unknown): Readonly<Record<string, unknown>> => ({ ...(payload as object) });
