import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { type IdKind, newId } from '../ids.ts';

/** The kind of an action's target (null: none, or several kinds), and a description of the action. */
interface AuditActMeaning {
  readonly target: IdKind | null;
  readonly meaning: string;
}

/**
 * The actions that are recorded. Their names are those of {@link earlierAuditActions}, or else of the newer enumeration.
 * docs/wire/audit-log.md#actions says when each one is written: a new line here needs its row there.
 */
export const auditActions = {
  'create_session': {
    target: 'session',
    meaning:
      'A new session was created. If it is a fork, `forkedFromId` and `checkpointId` in the data name the session and the checkpoint. If it exists for a set-up of a repository, `repository` and `trigger` name the repository and the cause.',
  },
  'send_message': { target: 'message', meaning: 'A message was sent to a session.' },
  'edit_message': { target: 'message', meaning: 'A message was edited before the agent received it.' },
  'withdraw_message': { target: 'message', meaning: 'A message was withdrawn before the agent received it.' },
  'terminate_session': { target: 'session', meaning: 'A session was terminated.' },
  'interrupt_session': { target: 'session', meaning: 'The work of a session was stopped.' },
  'open_pull_request': {
    target: 'session',
    meaning: 'A pull request of a session’s branch was asked for. The data has its repository and branches.',
  },
  'update_pull_request': {
    target: 'session',
    meaning: 'The change of a pull request of a session was requested. `changed` in the data names the parts.',
  },
  'reply_to_pull_request': {
    target: 'session',
    meaning: 'A reply to a comment on a pull request of a session was requested. The data has the id of the comment.',
  },
  'submit_review': {
    target: 'session',
    meaning:
      'The review of a pull request by a session’s agent was submitted. The data has the number of its comments.',
  },
  'set_pull_request_follow_up': {
    target: 'session',
    meaning: 'The follow-ups of a pull request of a session were set. The data has its address and the new value.',
  },
  'send_follow_up': {
    target: 'session',
    meaning:
      'A person sent a follow-up of a pull request to its session. The data has the address of the pull request.',
  },
  'dismiss_follow_up': {
    target: 'session',
    meaning: 'A person dismissed a follow-up of a pull request. The data has the address of the pull request.',
  },
  'retry_turn': { target: 'session', meaning: 'The messages of the last turn were sent to the agent again.' },
  'rewind_session': {
    target: 'session',
    meaning:
      'The files and the agent of a session were reverted to a checkpoint. The data has the checkpoint and its turn.',
  },
  'sleep_session': { target: 'session', meaning: 'A session was suspended, directly or because it was archived.' },
  'archive_session': { target: 'session', meaning: 'A session was archived by a user or by the service.' },
  'unarchive_session': { target: 'session', meaning: 'A session was returned from the archive.' },
  'update_session': {
    target: 'session',
    meaning: 'The title or the tags of a session were changed. `changed` in the data names the changed fields.',
  },
  'acknowledge_session_hard_cap': { target: 'session', meaning: 'The ACU limit of a session was changed.' },
  'update_session_options': {
    target: 'session',
    meaning: 'Options of a session’s agent were chosen. `changed` in the data names the options.',
  },
  'delete_session': {
    target: 'session',
    meaning: 'The service deleted a session with its log and files, because its retention time had ended.',
  },
  'delete_session_workspace': {
    target: 'session',
    meaning: 'The deletion of the workspace and home directory of a session was requested.',
  },
  'create_legal_hold': {
    target: 'legalHold',
    meaning: 'A legal hold was put on a session, an organization or a user. `held` in the data is its id.',
  },
  'release_legal_hold': {
    target: 'legalHold',
    meaning: 'A legal hold was released. `held` in the data is what it was on.',
  },
  'create_audit_log_export': {
    target: null,
    meaning:
      'A signed export of the audit log was begun. `createdAfter` and `createdBefore` in the data are its range of times.',
  },
  'create_org': { target: 'organization', meaning: 'An organization was created.' },
  'update_org': {
    target: 'organization',
    meaning:
      'The name, an ACU limit, the default agent or the default models of an organization were changed, or an operator changed on the host whether it creates schedules.',
  },
  'update_org_settings': {
    target: 'organization',
    meaning: 'The allowed tags or default tags for sessions of an organization were changed.',
  },
  'delete_org': { target: 'organization', meaning: 'An organization was deleted.' },
  'update_enterprise_settings': { target: 'enterprise', meaning: 'A setting of the enterprise was changed.' },
  'add_member': { target: 'user', meaning: 'A user account was created.' },
  'add_members_to_enterprise': { target: 'user', meaning: 'A user was assigned a first role on the enterprise.' },
  'add_members_to_org': { target: 'user', meaning: 'A user became a member of an organization.' },
  'remove_members_from_org': { target: 'user', meaning: 'A user was removed from an organization.' },
  'update_member': {
    target: 'user',
    meaning:
      'The name of a user was changed, or the user was linked with an account of an identity provider. If a directory changed the user, `changed` in the data names the fields.',
  },
  'deactivate_member': {
    target: 'user',
    meaning: 'A user was deactivated: its access ended, and its roles and keys are kept.',
  },
  'reactivate_member': { target: 'user', meaning: 'A deactivated user got its access back.' },
  'delete_member': { target: 'user', meaning: 'A user account was deleted.' },
  'assign_roles': {
    target: 'user',
    meaning: 'A user was assigned a different role, or the role of a user on the enterprise was removed.',
  },
  'create_role': { target: 'role', meaning: 'A custom role was created.' },
  'update_role': { target: 'role', meaning: 'A custom role was changed.' },
  'delete_role': { target: 'role', meaning: 'A custom role was deleted.' },
  'create_idp_group': {
    target: null,
    meaning: 'A group of an identity provider was registered. The data has its name.',
  },
  'update_idp_group': {
    target: null,
    meaning:
      'The name or the external id of a group of an identity provider was changed. The data has its name and, if that was changed, the name before.',
  },
  'add_members_to_idp_group': {
    target: 'user',
    meaning: 'A directory added a user to a group of an identity provider. The data has the name of the group.',
  },
  'remove_members_from_idp_group': {
    target: 'user',
    meaning: 'A directory removed a user from a group of an identity provider. The data has the name of the group.',
  },
  'delete_idp_group': { target: null, meaning: 'A group of an identity provider was removed with its roles.' },
  'add_group_membership': {
    target: null,
    meaning:
      'A group of an identity provider was assigned a role where it had none. The data has its name and the role.',
  },
  'update_group_membership': {
    target: null,
    meaning: 'A group of an identity provider was assigned a different role.',
  },
  'delete_group_membership': { target: null, meaning: 'A role of a group of an identity provider was removed.' },
  'create_service_user': { target: 'serviceUser', meaning: 'A service user was created.' },
  'update_service_user': { target: 'serviceUser', meaning: 'The name of a service user was changed.' },
  'delete_service_user': { target: 'serviceUser', meaning: 'A service user was deleted.' },
  'assign_service_user_role': { target: 'serviceUser', meaning: 'A role was assigned to a service user.' },
  'remove_service_user_role': { target: 'serviceUser', meaning: 'A role was removed from a service user.' },
  'create_org_api_key': { target: 'apiKey', meaning: 'A service key was created.' },
  'create_user_api_key': { target: 'apiKey', meaning: 'A personal key was created for a user.' },
  'create_service_user_api_key': { target: 'apiKey', meaning: 'A key was created for a service user.' },
  'create_pat': {
    target: 'apiKey',
    meaning:
      'A personal access token was created. `isDevice` in the data is true if it was approved for a program, such as the command line.',
  },
  'deny_device_authorization': {
    target: null,
    meaning: 'A user refused access to a program that waited for approval. The data has the name that it gave itself.',
  },
  'revoke_enterprise_api_key': { target: 'apiKey', meaning: 'A personal key or a service key was revoked.' },
  'revoke_all_enterprise_api_keys': { target: null, meaning: 'All keys of users and all service keys were revoked.' },
  'revoke_service_user_api_key': { target: 'apiKey', meaning: 'A key of a service user was revoked.' },
  'rotate_service_user_api_key': { target: 'apiKey', meaning: 'A key of a service user was replaced with a new key.' },
  'revoke_pat': { target: 'apiKey', meaning: 'A personal access token was revoked.' },
  'rotate_pat': { target: 'apiKey', meaning: 'A personal access token was replaced with a new token.' },
  'login': {
    target: 'apiKey',
    meaning:
      'A browser signed in to the console with a key, at an identity provider or with a link for its user, or confirmed its sign-in. `provider` in the data is the identity provider; `isSignInLink` is true for a link.',
  },
  'create_sign_in_link': {
    target: 'user',
    meaning: 'A link was created that signs a user in to the console once. `expiresAt` in the data is its end.',
  },
  'revoke_sign_in_link': { target: 'user', meaning: 'The link that signs a user in to the console was revoked.' },
  'create_secret': {
    target: 'secret',
    meaning: 'A secret of an organization was created. `name` in the data is the key of the secret.',
  },
  'update_secret': {
    target: 'secret',
    meaning: 'A secret of an organization was changed. `changed` in the data names the changed fields.',
  },
  'delete_secret': {
    target: 'secret',
    meaning: 'A secret of an organization was deleted. `name` in the data is the key of the secret.',
  },
  'create_provider_key': {
    target: 'providerKey',
    meaning: 'A provider key was created. `owner` in the data is `user`, `organization` or `enterprise`.',
  },
  'update_provider_key': {
    target: 'providerKey',
    meaning: 'A provider key was changed. `changed` in the data names the changed fields.',
  },
  'delete_provider_key': { target: 'providerKey', meaning: 'A provider key was deleted, and its value erased.' },
  'test_provider_key': { target: 'providerKey', meaning: 'A stored provider key was tested.' },
  'create_git_connection': { target: 'gitConnection', meaning: 'A git connection was created.' },
  'update_git_connection': {
    target: 'gitConnection',
    meaning: 'A git connection was changed. `changed` in the data names the changed fields.',
  },
  'delete_git_connection': {
    target: 'gitConnection',
    meaning: 'A git connection was deleted with its permissions, and its credential erased.',
  },
  'test_git_connection': { target: 'gitConnection', meaning: 'A stored git connection was tested.' },
  'create_git_permission': {
    target: 'gitPermission',
    meaning: 'A permission of an organization to use repositories of a git connection was created.',
  },
  'update_git_permission': { target: 'gitPermission', meaning: 'A git permission was changed.' },
  'delete_git_permission': { target: 'gitPermission', meaning: 'A git permission was deleted.' },
  'update_repository': {
    target: 'repository',
    meaning:
      'The branch template, the push settings, the settings for pull requests or the environment of a repository were changed, or the results of its set-ups were deleted. The data has the new values.',
  },
  'push_commits': {
    target: 'repository',
    meaning: 'A forge accepted a push of a session. The data names the repository, the branch and both commits.',
  },
  'create_knowledge': { target: 'note', meaning: 'A knowledge note was created.' },
  'edit_knowledge': {
    target: 'note',
    meaning: 'A knowledge note was changed. `changed` in the data names the changed fields.',
  },
  'delete_knowledge': { target: 'note', meaning: 'A knowledge note was deleted.' },
  'create_folder': { target: 'folder', meaning: 'A knowledge folder was created.' },
  'update_folder': { target: 'folder', meaning: 'A knowledge folder was changed or moved.' },
  'delete_folder': {
    target: 'folder',
    meaning: 'A knowledge folder was deleted. Its notes are no longer in any folder.',
  },
  'create_playbook': { target: 'playbook', meaning: 'A new playbook was created.' },
  'update_playbook': {
    target: 'playbook',
    meaning: 'A playbook was changed. `changed` in the data names the changed fields.',
  },
  'delete_playbook': {
    target: 'playbook',
    meaning: 'A playbook was deleted, of an organization or of the enterprise.',
  },
  'create_snapshot': {
    target: 'snapshot',
    meaning: 'A snapshot was created. The data has its name and the session and checkpoint that it is of.',
  },
  'update_snapshot': {
    target: 'snapshot',
    meaning: 'A snapshot was changed. `changed` in the data names the changed fields.',
  },
  'delete_snapshot': { target: 'snapshot', meaning: 'A snapshot was deleted. `name` in the data is its name.' },
  'create_automation': { target: 'automation', meaning: 'An automation or a schedule was created.' },
  'update_automation': {
    target: 'automation',
    meaning: 'An automation was changed. `changed` in the data names the changed fields.',
  },
  'delete_automation': { target: 'automation', meaning: 'An automation was deleted.' },
  'run_automation': { target: 'automation', meaning: 'An immediate run of an automation was requested.' },
  'create_webhook_endpoint': {
    target: 'webhookEndpoint',
    meaning: 'A webhook endpoint was created. `host` in the data is its host.',
  },
  'update_webhook_endpoint': {
    target: 'webhookEndpoint',
    meaning:
      'A webhook endpoint was changed, or disabled by the service itself. `changed` in the data names the changed fields.',
  },
  'delete_webhook_endpoint': { target: 'webhookEndpoint', meaning: 'A webhook endpoint was deleted.' },
  'test_webhook_endpoint': { target: 'webhookEndpoint', meaning: 'A test event was sent to a webhook endpoint.' },
  'redeliver_webhook': { target: 'webhookDelivery', meaning: 'A webhook delivery was sent again.' },
} as const satisfies Record<string, AuditActMeaning>;

/** One of {@link auditActions}. */
export type AuditAction = keyof typeof auditActions;

/** The target of an entry. `data` never contains a secret's value or a message's text. */
export interface AuditTarget {
  readonly organizationId: string | null;
  readonly sessionId?: string;
  readonly targetId?: string;
  readonly data?: Record<string, string | number | boolean | null>;
}

/** The insert with all columns of an entry: for {@link audit}, and for acts that are one statement with their entry. */
export const insertAuditEntry = `
  insert into audit_entry (id, enterprise_id, organization_id, action, user_id, service_user_id, api_key_id, address,
    session_id, target_id, data, created_at)`;

type AuditContext = Pick<Context, 'viewer' | 'address' | 'now' | 'automationId'> & Partial<Pick<Context, 'notifier'>>;

const ofSessions: ReadonlySet<string | null> = new Set(['session', 'message']);

/**
 * Writes one entry in the transaction of the act itself, so that both happen or neither does. Notifies the followers of
 * resources, whose acts are all recorded here; sessions have a topic of their own. Without a notifier it notifies no
 * one.
 */
export async function audit(
  context: AuditContext,
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
    JSON.stringify({ ...(context.automationId && { automationId: context.automationId }), ...target.data }),
    context.now(),
  ]);
  notifyFollowers(context, tx, action, target.organizationId);
}

/** The target of an entry of {@link auditAll}. */
export interface BulkAuditTarget {
  readonly targetId: string;
  readonly data?: AuditTarget['data'];
}

/** Writes one entry for each target of a bulk act, all in one statement. Otherwise like {@link audit}. */
export async function auditAll(
  context: AuditContext,
  tx: Transaction,
  action: AuditAction,
  organizationId: string | null,
  targets: readonly BulkAuditTarget[],
): Promise<void> {
  if (targets.length === 0) return;
  const { viewer } = context;
  const { type, id } = viewer.principal;
  await tx.query(
    `${insertAuditEntry}
     select n.id, $2, $3, $4, $5, $6, $7, $8, null, n.target_id, n.data::jsonb, $11::timestamptz
       from unnest($1::text[], $9::text[], $10::text[]) n (id, target_id, data)`,
    [
      targets.map(() => newId()),
      viewer.enterpriseId,
      organizationId,
      action,
      type === 'USER' ? id : null,
      type === 'SERVICE_USER' ? id : null,
      viewer.apiKeyId,
      context.address,
      targets.map(({ targetId }) => targetId),
      targets.map(({ data }) => JSON.stringify(data ?? {})),
      context.now(),
    ],
  );
  notifyFollowers(context, tx, action, organizationId);
}

function notifyFollowers(
  { viewer, notifier }: AuditContext,
  tx: Transaction,
  action: AuditAction,
  organizationId: string | null,
): void {
  if (ofSessions.has(auditActions[action].target)) return;
  tx.afterCommit(() => notifier?.notify(`resources:${organizationId ?? viewer.enterpriseId}`));
}
