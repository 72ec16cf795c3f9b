import type { IdKind } from '../ids.ts';
import { type AuditAction, auditActions } from './record-audit.ts';

/**
 * An entry of the audit log: the action, the actor and the target. Ids are unprefixed. The name and email of a deleted
 * actor are still here.
 */
export interface AuditEntryRecord {
  readonly id: string;
  /** Null: the enterprise itself. The organization may have been deleted since. */
  readonly organizationId: string | null;
  /** One of `auditActions`; a string, because a newer version may have written it. */
  readonly action: string;
  /**
   * If this and `serviceUserId` are null: a service key acted for itself, or, without an `apiKeyId` too, the service.
   */
  readonly userId: string | null;
  readonly userName: string | null;
  readonly userEmail: string | null;
  readonly serviceUserId: string | null;
  readonly serviceUserName: string | null;
  readonly apiKeyId: string | null;
  readonly apiKeyName: string | null;
  readonly address: string | null;
  readonly sessionId: string | null;
  readonly targetId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  /** The automation whose run acted; null: none. */
  readonly automationId: string | null;
  readonly createdAt: Date;
  /** The transaction that wrote it, in digits: the position of ascending readers. */
  readonly xid: string;
}

/** The columns of an {@link AuditEntryRecord} of an `audit_entry` aliased `e`, with {@link entryActors}. */
export const entryColumns = `e.id, e.organization_id as "organizationId", e.action, e.user_id as "userId", u.name as "userName",
  u.email as "userEmail", e.service_user_id as "serviceUserId", s.name as "serviceUserName", e.api_key_id as "apiKeyId",
  k.name as "apiKeyName", e.address, e.session_id as "sessionId", e.target_id as "targetId", e.data,
  e.data->>'automationId' as "automationId",
  e.created_at as "createdAt", e.xid::text as xid`;

/** Joins to the actors, including deleted ones. */
export const entryActors = `left join user_account u on u.id = e.user_id and u.enterprise_id = e.enterprise_id
  left join service_user s on s.id = e.service_user_id and s.enterprise_id = e.enterprise_id
  left join api_key k on k.id = e.api_key_id and k.enterprise_id = e.enterprise_id`;

/** Returns the kind of an entry's target; null if it has none, or an unknown one. */
export function targetKindOf({ action, targetId }: Pick<AuditEntryRecord, 'action' | 'targetId'>): IdKind | null {
  if (targetId === null || !Object.hasOwn(auditActions, action)) return null;
  return auditActions[action as AuditAction].target;
}
