import type { Transaction } from '../store/store.ts';
import type { Context } from './context.ts';
import { type IdKind, newId } from './ids.ts';

/** What an entry of some action says: what kind of thing its target is (null: none, or of several kinds), and in words. */
interface AuditActMeaning {
  readonly target: IdKind | null;
  readonly meaning: string;
}

/**
 * Acts that are recorded, in the words of spec 2.6 and, where it has none, of its newer edition (wire-facts 5).
 * docs/wire/audit-log.md says when each one is written: a new line here needs its row there.
 */
export const auditActions = {
  'create_session': { target: 'session', meaning: 'A session was started.' },
  'send_message': { target: 'message', meaning: 'A message was sent to a session.' },
  'terminate_session': { target: 'session', meaning: 'A session was terminated.' },
  'sleep_session': { target: 'session', meaning: 'A session was put to sleep, by itself or by being archived.' },
  'acknowledge_session_hard_cap': { target: 'session', meaning: 'A session’s limit of ACUs was changed.' },
  'delete_session_workspace': {
    target: 'session',
    meaning: 'The deletion of a session’s workspace and home was requested.',
  },
  'create_org': { target: 'organization', meaning: 'An organization was made.' },
  'update_org': {
    target: 'organization',
    meaning: 'An organization’s name, limits or default agent were changed, or on the host whether it makes schedules.',
  },
  'update_org_settings': { target: 'organization', meaning: 'The tags that its sessions may have were changed.' },
  'delete_org': { target: 'organization', meaning: 'An organization was deleted.' },
  'update_enterprise_settings': { target: 'enterprise', meaning: 'A setting of the enterprise was changed.' },
  'add_member': { target: 'user', meaning: 'A user was made.' },
  'add_members_to_enterprise': { target: 'user', meaning: 'A user was given its first role on the enterprise.' },
  'add_members_to_org': { target: 'user', meaning: 'A user became a member of an organization.' },
  'remove_members_from_org': { target: 'user', meaning: 'A user ceased to be a member of an organization.' },
  'update_member': { target: 'user', meaning: 'A user’s name was changed.' },
  'delete_member': { target: 'user', meaning: 'A user was deleted.' },
  'assign_roles': { target: 'user', meaning: 'A user was given another role.' },
  'create_role': { target: 'role', meaning: 'A custom role was made.' },
  'update_role': { target: 'role', meaning: 'A custom role was changed.' },
  'delete_role': { target: 'role', meaning: 'A custom role was deleted.' },
  'create_service_user': { target: 'serviceUser', meaning: 'A service user was made.' },
  'update_service_user': { target: 'serviceUser', meaning: 'A service user’s name was changed.' },
  'delete_service_user': { target: 'serviceUser', meaning: 'A service user was deleted.' },
  'assign_service_user_role': { target: 'serviceUser', meaning: 'A service user was given a role.' },
  'remove_service_user_role': { target: 'serviceUser', meaning: 'A service user’s role was taken away.' },
  'create_org_api_key': { target: 'apiKey', meaning: 'A service key was made.' },
  'create_user_api_key': { target: 'apiKey', meaning: 'A user’s personal key was made.' },
  'create_service_user_api_key': { target: 'apiKey', meaning: 'A service user’s key was made.' },
  'create_pat': { target: 'apiKey', meaning: 'A personal access token was made.' },
  'revoke_enterprise_api_key': { target: 'apiKey', meaning: 'A personal key or a service key was revoked.' },
  'revoke_all_enterprise_api_keys': { target: null, meaning: 'All keys of users and services were revoked.' },
  'revoke_service_user_api_key': { target: 'apiKey', meaning: 'A service user’s key was revoked.' },
  'rotate_service_user_api_key': { target: 'apiKey', meaning: 'A service user’s key was replaced by a new one.' },
  'revoke_pat': { target: 'apiKey', meaning: 'A personal access token was revoked.' },
  'rotate_pat': { target: 'apiKey', meaning: 'A personal access token was replaced by a new one.' },
  'login': { target: 'apiKey', meaning: 'Somebody signed in to the console with a key, or confirmed that sign-in.' },
  'create_secret': { target: 'secret', meaning: 'A secret of an organization was made; `name` is its key.' },
  'update_secret': {
    target: 'secret',
    meaning: 'A secret of an organization was changed; `changed` names what of it.',
  },
  'delete_secret': { target: 'secret', meaning: 'A secret of an organization was deleted; `name` was its key.' },
  'create_knowledge': { target: 'note', meaning: 'A note was made.' },
  'edit_knowledge': { target: 'note', meaning: 'A note was changed; `changed` names what of it.' },
  'delete_knowledge': { target: 'note', meaning: 'A note was deleted.' },
  'create_folder': { target: 'folder', meaning: 'A folder of notes was made.' },
  'update_folder': { target: 'folder', meaning: 'A folder of notes was changed or moved.' },
  'delete_folder': { target: 'folder', meaning: 'A folder was deleted; its notes are in none since.' },
  'create_playbook': { target: 'playbook', meaning: 'A playbook was made.' },
  'update_playbook': { target: 'playbook', meaning: 'A playbook was changed; `changed` names what of it.' },
  'delete_playbook': { target: 'playbook', meaning: 'A playbook was deleted.' },
  'create_automation': { target: 'automation', meaning: 'An automation was made, or a schedule.' },
  'update_automation': { target: 'automation', meaning: 'An automation was changed; `changed` names what of it.' },
  'delete_automation': { target: 'automation', meaning: 'An automation was deleted.' },
  'run_automation': { target: 'automation', meaning: 'An automation was told to act now.' },
  'create_webhook_endpoint': { target: 'webhookEndpoint', meaning: 'An endpoint for webhooks was made, at `host`.' },
  'update_webhook_endpoint': {
    target: 'webhookEndpoint',
    meaning: 'An endpoint for webhooks was changed, or disabled by the service itself; `changed` names what of it.',
  },
  'delete_webhook_endpoint': { target: 'webhookEndpoint', meaning: 'An endpoint for webhooks was deleted.' },
  'test_webhook_endpoint': { target: 'webhookEndpoint', meaning: 'A test was sent to an endpoint for webhooks.' },
  'redeliver_webhook': { target: 'webhookDelivery', meaning: 'A webhook was sent again.' },
} as const satisfies Record<string, AuditActMeaning>;

/** One of {@link auditActions}. */
export type AuditAction = keyof typeof auditActions;

/** What an entry is about. `data` never holds a secret's value or a message's text. */
export interface AuditTarget {
  readonly organizationId: string | null;
  readonly sessionId?: string;
  readonly targetId?: string;
  readonly data?: Record<string, string | number | boolean | null>;
}

/** Where an entry is written, and all that it has: for {@link audit}, and for acts that are one statement with their entry. */
export const insertAuditEntry = `
  insert into audit_entry (id, enterprise_id, organization_id, action, user_id, service_user_id, api_key_id, address,
    session_id, target_id, data, created_at)`;

/** Writes one entry in the transaction of the act itself: both happen or neither does. */
export async function audit(
  context: Pick<Context, 'viewer' | 'address' | 'now'>,
  tx: Transaction,
  action: AuditAction,
  target: AuditTarget,
): Promise<void> {
  const { viewer } = context;
  const { type, id } = viewer.principal;
  await tx.query(`${insertAuditEntry} values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::timestamptz)`, [
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
  ]);
}
