import type { Transaction } from '../store/store.ts';
import type { Context } from './context.ts';
import { newId } from './ids.ts';

/**
 * Acts that are recorded, in the words of spec 2.6 and, where it has none, of its newer edition (wire-facts 5).
 * docs/wire/audit-log.md says what each one stands for here.
 */
export const auditActions = [
  'create_session',
  'send_message',
  'terminate_session',
  'create_org',
  'update_org',
  'delete_org',
  'update_enterprise_settings',
  'add_member',
  'add_members_to_enterprise',
  'add_members_to_org',
  'remove_members_from_org',
  'delete_member',
  'assign_roles',
  'create_role',
  'update_role',
  'delete_role',
  'create_service_user',
  'delete_service_user',
  'assign_service_user_role',
  'remove_service_user_role',
  'create_org_api_key',
  'create_user_api_key',
  'create_service_user_api_key',
  'create_pat',
  'revoke_enterprise_api_key',
  'revoke_all_enterprise_api_keys',
  'revoke_service_user_api_key',
  'rotate_service_user_api_key',
  'revoke_pat',
  'rotate_pat',
] as const;

/** One of {@link auditActions}. */
export type AuditAction = (typeof auditActions)[number];

/** What an entry is about. `data` never holds a secret's value or a message's text. */
export interface AuditTarget {
  readonly organizationId: string | null;
  readonly sessionId?: string;
  readonly targetId?: string;
  readonly data?: Record<string, string | number | boolean | null>;
}

/** Writes one entry in the transaction of the act itself: both happen or neither does. */
export async function audit(
  context: Pick<Context, 'viewer' | 'address' | 'now'>,
  tx: Transaction,
  action: AuditAction,
  target: AuditTarget,
): Promise<void> {
  const { viewer } = context;
  const { type, id } = viewer.principal;
  await tx.query(
    `insert into audit_entry (id, enterprise_id, organization_id, action, user_id, service_user_id, api_key_id, address,
       session_id, target_id, data, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::timestamptz)`,
    [
      newId(),
      viewer.enterpriseId,
      target.organizationId,
      action,
      type === 'USER' ? id : null,
      type === 'SERVICE_USER' ? id : null,
      viewer.apiKeyId,
      context.address,
      target.sessionId ?? null,
      target.targetId ?? null,
      JSON.stringify(target.data ?? {}),
      context.now(),
    ],
  );
}
