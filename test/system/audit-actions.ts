import type { AuditAction } from '../../src/domain/audit/record-audit.ts';
import { createConsoleSession } from '../../src/domain/identity/keys/console-sessions.ts';
import { revokeAllApiKeys, revokeApiKey } from '../../src/domain/identity/keys/revoke-api-keys.ts';
import { rotateApiKey } from '../../src/domain/identity/keys/rotate-api-key.ts';
import { replaceAllowedTags } from '../../src/domain/identity/organizations/allowed-tags.ts';
import { updateServiceUser } from '../../src/domain/identity/people/service-users.ts';
import { prefixedId } from '../../src/domain/ids.ts';
import { createFolder, deleteFolder, updateFolder } from '../../src/domain/library/knowledge/change-folders.ts';
import { call, makeUser } from '../rest/rest-app.ts';
import { secretCanary } from '../support/leaks.ts';
import { keyInput, roleInput } from '../support/principals.ts';
import { type Actor, type AuditedAction, agentText } from './audit-actor.ts';
import { checkpointAuditedActions } from './checkpoint-audit-actions.ts';
import { credentialAuditedActions } from './credential-audit-actions.ts';
import { groupAuditedActions } from './group-audit-actions.ts';
import { sessionAuditedActions } from './session-audit-actions.ts';

const inOrganization = (organization: string) => `/v3/organizations/${organization}`;

const note = { name: 'Note', body: agentText, trigger: agentText };
const playbook = { title: 'Playbook', body: agentText };
const robot = { name: 'Another', roleId: 'org_admin' };
const automation = { name: 'Automation', triggers: [], actions: [{ type: 'start_session', prompt: agentText }] };
const secret = () => ({ type: 'key-value', key: `KEY_${Date.now()}`, value: `${secretCanary}-value`, note: agentText });

/** Creates an object in an organization over v3, and returns its id. */
const make = async ({ rest }: Actor, organization: string, path: string, body: object, id: string): Promise<string> =>
  (await rest('POST', `${inOrganization(organization)}/${path}`, body))[id];

const makeKey = async ({ mutate }: Actor, input: Record<string, unknown>): Promise<string> =>
  (await mutate('createApiKey', keyInput(input), 'apiKey { apiKeyId }')).apiKey.apiKeyId;

const makeRobot = async ({ mutate }: Actor, organizationId: string): Promise<string> =>
  (await mutate('createServiceUser', { ...robot, scope: { organizationId } }, 'serviceUser { serviceUserId }'))
    .serviceUser.serviceUserId;

const userOf = async ({ app }: Actor, organization: string): Promise<string> =>
  prefixedId('user', (await makeUser(app, organization.replace('org-', ''))).userId);

const membersOf = (organization: string) => `/v3/enterprise/organizations/${organization}/members/users`;

const keysOf = (serviceUserId: string) => `/v3beta1/enterprise/service-users/${serviceUserId}/api-keys`;

let roles = 0;

async function makeRole({ mutate }: Actor): Promise<string> {
  const input = { name: `Role ${++roles}`, scope: 'ORGANIZATION', permissions: ['VIEW_ORG_SESSIONS'] };
  return (await mutate('createRole', input, 'role { roleId }')).role.roleId;
}

async function makeWebhookEndpoint({ mutate }: Actor, organization: string): Promise<string> {
  const input = { organizationId: organization, url: 'https://hooks.example/' };
  const made = await mutate('createWebhookEndpoint', input, 'webhookEndpoint { webhookEndpointId }');
  return made.webhookEndpoint.webhookEndpointId;
}

async function testWebhookEndpoint({ mutate }: Actor, webhookEndpointId: string): Promise<string> {
  const sent = await mutate('testWebhookEndpoint', { webhookEndpointId }, 'webhookDelivery { webhookDeliveryId }');
  return sent.webhookDelivery.webhookDeliveryId;
}

/** Each action with the request that causes it; over the domain if no API has it. */
export const auditedActions: Partial<Record<AuditAction, AuditedAction>> = {
  async update_org_settings(actor, organization) {
    await replaceAllowedTags(await actor.context(), organization, ['one', 'two']);
    return { target: organization, organization };
  },
  async create_org(actor) {
    const { org_id } = await actor.rest('POST', '/v3/enterprise/organizations', { name: 'Made' });
    return { target: org_id, organization: org_id };
  },
  async update_org(actor, organization) {
    await actor.rest('PATCH', `/v3/enterprise/organizations/${organization}`, { name: 'Renamed' });
    return { target: organization, organization };
  },
  async delete_org(actor, organization) {
    await actor.rest('DELETE', `/v3/enterprise/organizations/${organization}`);
    return { target: organization, organization };
  },
  async update_enterprise_settings(actor) {
    await actor.rest('POST', '/v3/enterprise/ip-access-list', { ip_ranges: ['127.0.0.0/8', '::1'] });
    await call(actor.app, actor.app.adminToken, 'DELETE', '/v3/enterprise/ip-access-list');
    return { target: prefixedId('enterprise', actor.app.app.installation.enterpriseId), organization: null };
  },
  async add_member(actor, organization) {
    const scope = { organizationId: organization };
    const input = { email: `${Date.now()}@example.test`, scope, roleId: 'org_member' };
    const { user } = await actor.mutate('createUser', input, 'user { userId }');
    return { target: user.userId, organization };
  },
  async add_members_to_enterprise(actor) {
    const input = { emails: [`${Date.now()}@example.test`], enterprise_role_id: 'account_member' };
    const [user] = await actor.rest('POST', '/v3/enterprise/members/users', input);
    return { target: user.user_id, organization: null };
  },
  async add_members_to_org(actor, organization) {
    const target = await userOf(actor, prefixedId('organization', actor.app.organizationId));
    await actor.rest('POST', `${membersOf(organization)}/${target}`, { role_id: 'org_member' });
    return { target, organization };
  },
  async assign_roles(actor, organization) {
    const target = await userOf(actor, organization);
    await actor.rest('PATCH', `${membersOf(organization)}/${target}`, { role_id: 'org_admin' });
    return { target, organization };
  },
  async remove_members_from_org(actor, organization) {
    const target = await userOf(actor, organization);
    await actor.rest('DELETE', `${membersOf(organization)}/${target}`);
    return { target, organization };
  },
  async update_member(actor, organization) {
    const target = await userOf(actor, organization);
    await actor.mutate('updateUser', { userId: target, name: 'Renamed' }, 'user { name }');
    return { target, organization: null };
  },
  async delete_member(actor, organization) {
    const target = await userOf(actor, organization);
    await actor.rest('DELETE', `/v3/enterprise/members/users/${target}`);
    return { target, organization: null };
  },
  async create_role(actor) {
    return { target: await makeRole(actor), organization: null };
  },
  async update_role(actor) {
    const target = await makeRole(actor);
    await actor.mutate('updateRole', { roleId: target, permissions: ['USE_SESSIONS'] }, 'role { name }');
    return { target, organization: null };
  },
  async delete_role(actor) {
    const target = await makeRole(actor);
    await actor.mutate('deleteRole', { roleId: target }, 'deletedRoleId');
    return { target, organization: null };
  },
  async assign_service_user_role(actor, organization) {
    const target = await makeRobot(actor, organization);
    const input = roleInput({ serviceUserId: target, organizationId: organization, roleId: 'org_member' });
    await actor.mutate('assignRole', input, 'serviceUser { name }');
    return { target, organization };
  },
  async remove_service_user_role(actor, organization) {
    const target = await makeRobot(actor, organization);
    const input = roleInput({ serviceUserId: target, organizationId: organization });
    await actor.mutate('unassignRole', input, 'serviceUser { name }');
    return { target, organization };
  },
  async create_service_user(actor, organization) {
    return { target: await makeRobot(actor, organization), organization };
  },
  async update_service_user(actor, organization) {
    const target = await makeRobot(actor, organization);
    await updateServiceUser(await actor.context(), target, { name: 'Renamed' });
    return { target, organization };
  },
  async delete_service_user(actor, organization) {
    const target = await makeRobot(actor, organization);
    await actor.rest('DELETE', `/v3/enterprise/members/service-users/${target}`);
    return { target, organization };
  },
  async revoke_enterprise_api_key(actor, organization) {
    const target = await makeKey(actor, { kind: 'SERVICE', organizationId: organization });
    await revokeApiKey(await actor.context(), { apiKeyId: target });
    return { target, organization };
  },
  async revoke_all_enterprise_api_keys(actor) {
    await revokeAllApiKeys(await actor.context());
    return { target: null, organization: null };
  },
  async revoke_service_user_api_key(actor, organization) {
    const serviceUserId = await makeRobot(actor, organization);
    const target = await makeKey(actor, { kind: 'SERVICE_USER', serviceUserId });
    await actor.rest('DELETE', `${keysOf(serviceUserId)}/${target}`);
    return { target, organization };
  },
  async rotate_service_user_api_key(actor, organization) {
    const serviceUserId = await makeRobot(actor, organization);
    const old = await makeKey(actor, { kind: 'SERVICE_USER', serviceUserId });
    const rotated = await actor.rest('POST', `${keysOf(serviceUserId)}/${old}/rotate`, {});
    return { target: rotated.api_key_id, organization };
  },
  async revoke_pat(actor, organization) {
    const target = await makeKey(actor, { kind: 'PERSONAL_ACCESS_TOKEN', userId: await userOf(actor, organization) });
    await revokeApiKey(await actor.context(), { apiKeyId: target });
    return { target, organization: null };
  },
  async rotate_pat(actor, organization) {
    const old = await makeKey(actor, { kind: 'PERSONAL_ACCESS_TOKEN', userId: await userOf(actor, organization) });
    const { apiKey } = await rotateApiKey(await actor.context(), { apiKeyId: old });
    return { target: prefixedId('apiKey', apiKey.id), organization: null };
  },
  async create_org_api_key(actor, organization) {
    return { target: await makeKey(actor, { kind: 'SERVICE', organizationId: organization }), organization };
  },
  async create_user_api_key(actor, organization) {
    const userId = await userOf(actor, organization);
    return { target: await makeKey(actor, { kind: 'PERSONAL', organizationId: organization, userId }), organization };
  },
  async create_service_user_api_key(actor, organization) {
    const serviceUserId = await makeRobot(actor, organization);
    return { target: await makeKey(actor, { kind: 'SERVICE_USER', serviceUserId }), organization };
  },
  async create_pat(actor, organization) {
    const userId = await userOf(actor, organization);
    return { target: await makeKey(actor, { kind: 'PERSONAL_ACCESS_TOKEN', userId }), organization: null };
  },
  async login(actor) {
    const context = await actor.context();
    await createConsoleSession(context);
    return { target: prefixedId('apiKey', context.viewer.apiKeyId ?? ''), organization: null };
  },
  async create_secret(actor, organization) {
    return { target: await make(actor, organization, 'secrets', secret(), 'secret_id'), organization };
  },
  async update_secret(actor, organization) {
    const target = await make(actor, organization, 'secrets', secret(), 'secret_id');
    await actor.mutate('updateSecret', { secretId: target, value: `${secretCanary}-other` }, 'secret { id }');
    return { target, organization };
  },
  async delete_secret(actor, organization) {
    const target = await make(actor, organization, 'secrets', secret(), 'secret_id');
    await actor.rest('DELETE', `${inOrganization(organization)}/secrets/${target}`);
    return { target, organization };
  },
  ...credentialAuditedActions,
  ...checkpointAuditedActions,
  ...sessionAuditedActions,
  ...groupAuditedActions,
  async create_knowledge(actor, organization) {
    return { target: await make(actor, organization, 'knowledge/notes', note, 'note_id'), organization };
  },
  async edit_knowledge(actor, organization) {
    const target = await make(actor, organization, 'knowledge/notes', note, 'note_id');
    await actor.rest('PUT', `${inOrganization(organization)}/knowledge/notes/${target}`, {
      ...note,
      body: `${agentText} too`,
    });
    return { target, organization };
  },
  async delete_knowledge(actor, organization) {
    const target = await make(actor, organization, 'knowledge/notes', note, 'note_id');
    await actor.rest('DELETE', `${inOrganization(organization)}/knowledge/notes/${target}`);
    return { target, organization };
  },
  async create_folder(actor, organization) {
    const folder = await createFolder(await actor.context(), { organizationId: organization }, { name: 'Folder' });
    return { target: prefixedId('folder', folder.id), organization };
  },
  async update_folder(actor, organization) {
    const context = await actor.context();
    const folder = await createFolder(context, { organizationId: organization }, { name: 'Folder' });
    await updateFolder(context, folder.id, { name: 'Renamed' });
    return { target: prefixedId('folder', folder.id), organization };
  },
  async delete_folder(actor, organization) {
    const context = await actor.context();
    const folder = await createFolder(context, { organizationId: organization }, { name: 'Folder' });
    await deleteFolder(context, folder.id);
    return { target: prefixedId('folder', folder.id), organization };
  },
  async create_playbook(actor, organization) {
    return { target: await make(actor, organization, 'playbooks', playbook, 'playbook_id'), organization };
  },
  async update_playbook(actor, organization) {
    const target = await make(actor, organization, 'playbooks', playbook, 'playbook_id');
    await actor.rest('PUT', `${inOrganization(organization)}/playbooks/${target}`, {
      ...playbook,
      body: `${agentText} too`,
    });
    return { target, organization };
  },
  async delete_playbook(actor, organization) {
    const target = await make(actor, organization, 'playbooks', playbook, 'playbook_id');
    await actor.rest('DELETE', `${inOrganization(organization)}/playbooks/${target}`);
    return { target, organization };
  },
  async create_automation(actor, organization) {
    return { target: await make(actor, organization, 'automations', automation, 'automation_id'), organization };
  },
  async update_automation(actor, organization) {
    const target = await make(actor, organization, 'automations', automation, 'automation_id');
    const actions = [{ type: 'start_session', prompt: `${agentText} too` }];
    await actor.rest('PATCH', `${inOrganization(organization)}/automations/${target}`, { actions });
    return { target, organization };
  },
  async delete_automation(actor, organization) {
    const target = await make(actor, organization, 'automations', automation, 'automation_id');
    await actor.rest('DELETE', `${inOrganization(organization)}/automations/${target}`);
    return { target, organization };
  },
  async run_automation(actor, organization) {
    const target = await make(actor, organization, 'automations', automation, 'automation_id');
    await actor.rest('POST', `${inOrganization(organization)}/automations/${target}/run`);
    return { target, organization };
  },
  async create_webhook_endpoint(actor, organization) {
    return { target: await makeWebhookEndpoint(actor, organization), organization };
  },
  async update_webhook_endpoint(actor, organization) {
    const target = await makeWebhookEndpoint(actor, organization);
    const change = { webhookEndpointId: target, url: 'https://hooks.example/other' };
    await actor.mutate('updateWebhookEndpoint', change, 'webhookEndpoint { url }');
    return { target, organization };
  },
  async delete_webhook_endpoint(actor, organization) {
    const target = await makeWebhookEndpoint(actor, organization);
    await actor.mutate('deleteWebhookEndpoint', { webhookEndpointId: target }, 'deletedWebhookEndpointId');
    return { target, organization };
  },
  async test_webhook_endpoint(actor, organization) {
    const target = await makeWebhookEndpoint(actor, organization);
    await testWebhookEndpoint(actor, target);
    return { target, organization };
  },
  async redeliver_webhook(actor, organization) {
    const target = await testWebhookEndpoint(actor, await makeWebhookEndpoint(actor, organization));
    await actor.mutate('redeliverWebhookDelivery', { webhookDeliveryId: target }, 'webhookDelivery { status }');
    return { target, organization };
  },
};
