import type { Owner } from '../../../auth/viewer.ts';

/** A report of a client that shows a session. */
export interface PresenceMessage extends Owner {
  /** Identifies the client among those of its principal. */
  readonly clientId: string;
  readonly isTyping: boolean;
  readonly hasLeft: boolean;
}

/** The form of a client id. */
export const clientIdPattern = /^[\w-]{1,64}$/;

const idPattern = /^[0-9a-f]{32}$/;
const isId = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && idPattern.test(value));

/** Writes a report as one line. */
export function writePresence({ userId, serviceUserId, serviceKeyId, ...message }: PresenceMessage): string {
  const flags = (message.isTyping ? 1 : 0) + (message.hasLeft ? 2 : 0);
  return JSON.stringify([userId, serviceUserId, serviceKeyId, message.clientId, flags]);
}

/** Reads a report; null if it is malformed. */
export function readPresence(payload: string): PresenceMessage | null {
  let fields: unknown;
  try {
    fields = JSON.parse(payload);
  } catch {
    return null;
  }
  if (!Array.isArray(fields) || fields.length !== 5) return null;
  const [userId, serviceUserId, serviceKeyId, clientId, flags] = fields as unknown[];
  if (!isId(userId) || !isId(serviceUserId) || !isId(serviceKeyId)) return null;
  if (typeof clientId !== 'string' || !clientIdPattern.test(clientId) || typeof flags !== 'number') return null;
  return { userId, serviceUserId, serviceKeyId, clientId, isTyping: (flags & 1) !== 0, hasLeft: (flags & 2) !== 0 };
}
