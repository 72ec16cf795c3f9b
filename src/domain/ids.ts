import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/**
 * Ids are UUIDv7 as 32 hex digits: unprefixed in the database, prefixed in APIs. `type` is the name in a Relay global
 * id, `prefix` the prefix that REST writes (docs/wire/ids.md#writing).
 */
const kinds = {
  session: { prefix: 'devin-', type: 'Session' },
  organization: { prefix: 'org-', type: 'Organization' },
  enterprise: { prefix: 'enterprise-', type: 'Enterprise' },
  user: { prefix: 'user-', type: 'User' },
  serviceUser: { prefix: 'service-user-', type: 'ServiceUser' },
  member: { prefix: 'member-', type: 'Member' },
  apiKey: { prefix: 'key-', type: 'ApiKey' },
  /** A service key as a principal: the id of its API key. */
  serviceKey: { prefix: 'key-', type: 'ServiceKey' },
  role: { prefix: '', type: 'Role' },
  idpGroup: { prefix: 'idp-group-', type: 'IdpGroup' },
  message: { prefix: 'event-', type: 'SessionMessage' },
  event: { prefix: 'event-', type: 'SessionEvent' },
  followUp: { prefix: 'follow-up-', type: 'FollowUp' },
  attachment: { prefix: 'attachment-', type: 'Attachment' },
  checkpoint: { prefix: 'checkpoint-', type: 'Checkpoint' },
  snapshot: { prefix: 'snapshot-', type: 'Snapshot' },
  playbook: { prefix: 'playbook-', type: 'Playbook' },
  note: { prefix: 'note-', type: 'KnowledgeNote' },
  folder: { prefix: 'folder-', type: 'KnowledgeFolder' },
  secret: { prefix: 'sec_', type: 'Secret' },
  providerKey: { prefix: 'provider-key-', type: 'ProviderKey' },
  gitConnection: { prefix: 'git-connection-', type: 'GitConnection' },
  gitPermission: { prefix: 'git-permission-', type: 'GitPermission' },
  repository: { prefix: 'repository-', type: 'Repository' },
  automation: { prefix: 'automation-', type: 'Automation' },
  automationRun: { prefix: '', type: 'AutomationRun' },
  webhookEndpoint: { prefix: 'webhook-', type: 'WebhookEndpoint' },
  webhookDelivery: { prefix: 'delivery-', type: 'WebhookDelivery' },
  legalHold: { prefix: 'legal-hold-', type: 'LegalHold' },
  auditEntry: { prefix: 'audit_log-', type: 'AuditLogEntry' },
} as const satisfies Record<string, { prefix: string; type: string }>;

/** The kinds of objects with ids. */
export type IdKind = keyof typeof kinds;
/** See {@link IdKind}. */
export const idKinds = Object.keys(kinds) as readonly IdKind[];

const bytesEach = 16;
/** Random bytes for the next ids: single requests would cost more than the rest of an id. */
const random = Buffer.alloc(256 * bytesEach);
let used = random.length;
/**
 * The last id: ids of the same millisecond count up from a random number in the lower half of 32 bits (RFC 9562, 6.2).
 */
const last = { msecs: 0, seq: 0 };

/** Creates an id: 32 hex digits, sorted by time, and within a process by creation. */
export function newId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const own = random.subarray(used, used + bytesEach);
  used += bytesEach;
  const now = Date.now();
  const isLater = now > last.msecs;
  // The bytes that `seq` replaces.
  last.seq = isLater ? own.readUInt32BE(6) & 0x7fffffff : (last.seq + 1) | 0;
  if (isLater) last.msecs = now;
  else if (last.seq === 0) last.msecs += 1;
  return v7({ random: own, msecs: last.msecs, seq: last.seq }, Buffer.allocUnsafe(bytesEach)).toString('hex');
}

/** Returns the id as REST writes it: prefix and hex. */
export function prefixedId(kind: IdKind, id: string): string {
  return kinds[kind].prefix + id;
}

/** Returns the Relay global id: base64 of `Type:id`. */
export function globalId(kind: IdKind, id: string): string {
  return Buffer.from(`${kinds[kind].type}:${id}`).toString('base64');
}

/** Returns the type in the global ids of a kind. */
export const typeOfKind = (kind: IdKind): string => kinds[kind].type;

/** Returns a global id's type and unprefixed id; null if it is not one of ours. */
export function parseGlobalId(text: string): { type: string; id: string } | null {
  if (!/^[A-Za-z0-9+/_-]{8,200}={0,2}$/.test(text)) return null;
  const match = /^([A-Za-z]{1,40}):([A-Za-z0-9._-]{1,64})$/.exec(Buffer.from(text, 'base64').toString('latin1'));
  return match ? { type: match[1] as string, id: match[2] as string } : null;
}

/** Kinds by their prefix. If several share one: "key-" is an API key's, "event-" that of any log entry. */
const kindsOfPrefixes = new Map(
  idKinds
    .filter((kind) => kinds[kind].prefix !== '' && kind !== 'message' && kind !== 'serviceKey')
    .map((kind) => [kinds[kind].prefix as string, kind]),
);

/** Returns the type and the unprefixed id of a prefixed id, as REST writes it; null for any other text. */
export function parsePrefixedId(text: string): { type: string; id: string } | null {
  const [prefix] =
    /^[a-z]+(?:[-_][a-z]+)*[-_](?=[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$)/i.exec(text.trim()) ?? [];
  const kind = kindsOfPrefixes.get(prefix ?? '');
  const id = kind === undefined ? null : parseId(kind, text);
  return kind === undefined || id === null ? null : { type: kinds[kind].type, id };
}

/**
 * Reads an id from any API: unprefixed, prefixed, doubly prefixed, with a UUID's hyphens, or a global id of the same
 * kind (docs/wire/ids.md#reading). Null for anything else: to the caller, such an object does not exist.
 */
export function parseId(kind: IdKind, text: string): string | null {
  const { prefix, type } = kinds[kind];
  let rest = text.trim();
  for (let i = 0; i < 2 && prefix !== '' && rest.startsWith(prefix); i++) rest = rest.slice(prefix.length);
  if (kind === 'role' && /^[a-z][a-z_]{0,39}$/.test(rest)) return rest;
  const hex = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(rest) ? rest.replaceAll('-', '') : rest;
  if (/^[0-9a-f]{32}$/i.test(hex)) return hex.toLowerCase();
  const global = parseGlobalId(rest);
  return global && global.type === type ? global.id : null;
}
