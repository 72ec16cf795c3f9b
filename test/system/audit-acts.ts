import { authenticate } from '../../src/auth/authenticate.ts';
import type { AuditAction } from '../../src/domain/audit.ts';
import type { Context } from '../../src/domain/context.ts';
import { prefixedId } from '../../src/domain/ids.ts';
import { createConsoleSession } from '../../src/domain/keys/console-sessions.ts';
import { revokeAllApiKeys, revokeApiKey } from '../../src/domain/keys/revoke-api-keys.ts';
import { rotateApiKey } from '../../src/domain/keys/rotate-api-key.ts';
import { createFolder, deleteFolder, updateFolder } from '../../src/domain/knowledge/change-folders.ts';
import { updateServiceUser } from '../../src/domain/people/service-users.ts';
import { replaceAllowedTags } from '../../src/domain/sessions/allowed-tags.ts';
import { suspendSession } from '../../src/domain/sessions/suspend-session.ts';
import { call, makeUser, type TestApp } from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { secretCanary } from '../support/leaks.ts';
import { keyInput, roleInput } from '../support/principals.ts';

/** In every text that a caller writes for an agent to read: no entry may have it. */
export const words = 'w0rds-for-the-agent';

/** Somebody who acts: by REST, by GraphQL, and by the domain where no door has an act. */
export interface Hand {
  readonly app: TestApp;
  readonly rest: (method: string, path: string, body?: unknown) => Promise<any>;
  readonly mutate: (field: string, input: Record<string, unknown>, selection: string) => Promise<any>;
  readonly context: () => Promise<Context>;
}

/** The hand of a token. What is refused is an error. */
export function handOf(app: TestApp, token: string): Hand {
  return {
    app,
    async rest(method, path, body) {
      const answer = await call(app, token, method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    },
    async mutate(field, input, selection) {
      const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
      const document = `mutation($input: ${type}!) { ${field}(input: $input) { ${selection} userErrors { message } } }`;
      const { data, errors } = await graphql(app, token, document, { input });
      if (errors || data[field].userErrors.length > 0) throw new Error(JSON.stringify({ data, errors }));
      return data[field];
    },
    async context() {
      const { services } = app.app;
      return { ...services, viewer: await authenticate(services, token, null), address: '127.0.0.1' };
    },
  };
}

/** What the entry must say: ids as REST writes them. */
export interface Expected {
  /** Null: nothing that has an id. */
  readonly target: string | null;
  /** Null: of the enterprise itself. */
  readonly organization: string | null;
  readonly session?: string;
}

/** Acts in, or on, an organization of its own. */
type Act = (hand: Hand, organization: string) => Promise<Expected>;

const inOrganization = (organization: string) => `/v3/organizations/${organization}`;

async function makeSession({ rest }: Hand, organization: string): Promise<string> {
  const made = await rest('POST', `${inOrganization(organization)}/sessions`, { prompt: words });
  return `devin-${made.session_id}`;
}

const note = { name: 'Note', body: words, trigger: words };
const playbook = { title: 'Playbook', body: words };
const robot = { name: 'Another', roleId: 'org_admin' };
const automation = { name: 'Automation', triggers: [], actions: [{ type: 'start_session', prompt: words }] };
const secret = () => ({ type: 'key-value', key: `KEY_${Date.now()}`, value: `${secretCanary}-value`, note: words });

/** Makes something in an organization over v3, and gives its id. */
const make = async ({ rest }: Hand, organization: string, path: string, body: object, id: string): Promise<string> =>
  (await rest('POST', `${inOrganization(organization)}/${path}`, body))[id];

const makeKey = async ({ mutate }: Hand, input: Record<string, unknown>): Promise<string> =>
  (await mutate('createApiKey', keyInput(input), 'apiKey { apiKeyId }')).apiKey.apiKeyId;

const makeRobot = async ({ mutate }: Hand, organizationId: string): Promise<string> =>
  (await mutate('createServiceUser', { ...robot, scope: { organizationId } }, 'serviceUser { serviceUserId }'))
    .serviceUser.serviceUserId;

const userOf = async ({ app }: Hand, organization: string): Promise<string> =>
  prefixedId('user', (await makeUser(app, organization.replace('org-', ''))).userId);

const membersOf = (organization: string) => `/v3/enterprise/organizations/${organization}/members/users`;

const keysOf = (serviceUserId: string) => `/v3beta1/enterprise/service-users/${serviceUserId}/api-keys`;

let roles = 0;

async function makeRole({ mutate }: Hand): Promise<string> {
  const input = { name: `Role ${++roles}`, scope: 'ORGANIZATION', permissions: ['VIEW_ORG_SESSIONS'] };
  return (await mutate('createRole', input, 'role { roleId }')).role.roleId;
}

async function makeWebhookEndpoint({ mutate }: Hand, organization: string): Promise<string> {
  const input = { organizationId: organization, url: 'https://hooks.example/' };
  const made = await mutate('createWebhookEndpoint', input, 'webhookEndpoint { webhookEndpointId }');
  return made.webhookEndpoint.webhookEndpointId;
}

async function testWebhookEndpoint({ mutate }: Hand, webhookEndpointId: string): Promise<string> {
  const sent = await mutate('testWebhookEndpoint', { webhookEndpointId }, 'webhookDelivery { webhookDeliveryId }');
  return sent.webhookDelivery.webhookDeliveryId;
}

/** Each act, done through a door; through the domain where no door has it. */
export const acts: Partial<Record<AuditAction, Act>> = {
  async create_session(hand, organization) {
    const session = await makeSession(hand, organization);
    return { target: session, session, organization };
  },
  async send_message(hand, organization) {
    const session = await makeSession(hand, organization);
    const path = `${inOrganization(organization)}/sessions/${session}/messages`;
    await hand.rest('POST', path, { message: words });
    const { items } = await hand.rest('GET', path);
    return { target: items.at(-1).event_id, session, organization };
  },
  async terminate_session(hand, organization) {
    const session = await makeSession(hand, organization);
    await hand.rest('DELETE', `${inOrganization(organization)}/sessions/${session}`);
    return { target: session, session, organization };
  },
  async sleep_session(hand, organization) {
    const session = await makeSession(hand, organization);
    await suspendSession(await hand.context(), { sessionId: session });
    return { target: session, session, organization };
  },
  async acknowledge_session_hard_cap(hand, organization) {
    const session = await makeSession(hand, organization);
    await hand.mutate('updateSession', { sessionId: session, maxAcuLimit: 3 }, 'session { maxAcuLimit }');
    return { target: session, session, organization };
  },
  async delete_session_workspace(hand, organization) {
    const session = await makeSession(hand, organization);
    await suspendSession(await hand.context(), { sessionId: session });
    // As after a run: without one there is no workspace to delete.
    const values = ['0'.repeat(16), session.slice('devin-'.length)];
    await hand.app.app.services.store.execute('update run set home_worker_id = $1 where session_id = $2', values);
    await hand.mutate('deleteSessionWorkspace', { sessionId: session }, 'session { workspaceDeletionRequestedAt }');
    return { target: session, session, organization };
  },
  async update_org_settings(hand, organization) {
    await replaceAllowedTags(await hand.context(), organization, ['one', 'two']);
    return { target: organization, organization };
  },
  async create_org(hand) {
    const { org_id } = await hand.rest('POST', '/v3/enterprise/organizations', { name: 'Made' });
    return { target: org_id, organization: org_id };
  },
  async update_org(hand, organization) {
    await hand.rest('PATCH', `/v3/enterprise/organizations/${organization}`, { name: 'Renamed' });
    return { target: organization, organization };
  },
  async delete_org(hand, organization) {
    await hand.rest('DELETE', `/v3/enterprise/organizations/${organization}`);
    return { target: organization, organization };
  },
  async update_enterprise_settings(hand) {
    await hand.rest('POST', '/v3/enterprise/ip-access-list', { ip_ranges: ['127.0.0.0/8', '::1'] });
    await call(hand.app, hand.app.adminToken, 'DELETE', '/v3/enterprise/ip-access-list');
    return { target: prefixedId('enterprise', hand.app.app.installation.enterpriseId), organization: null };
  },
  async add_member(hand, organization) {
    const scope = { organizationId: organization };
    const input = { email: `${Date.now()}@example.test`, scope, roleId: 'org_member' };
    const { user } = await hand.mutate('createUser', input, 'user { userId }');
    return { target: user.userId, organization };
  },
  async add_members_to_enterprise(hand) {
    const input = { emails: [`${Date.now()}@example.test`], enterprise_role_id: 'account_member' };
    const [user] = await hand.rest('POST', '/v3/enterprise/members/users', input);
    return { target: user.user_id, organization: null };
  },
  async add_members_to_org(hand, organization) {
    const target = await userOf(hand, prefixedId('organization', hand.app.organizationId));
    await hand.rest('POST', `${membersOf(organization)}/${target}`, { role_id: 'org_member' });
    return { target, organization };
  },
  async assign_roles(hand, organization) {
    const target = await userOf(hand, organization);
    await hand.rest('PATCH', `${membersOf(organization)}/${target}`, { role_id: 'org_admin' });
    return { target, organization };
  },
  async remove_members_from_org(hand, organization) {
    const target = await userOf(hand, organization);
    await hand.rest('DELETE', `${membersOf(organization)}/${target}`);
    return { target, organization };
  },
  async update_member(hand, organization) {
    const target = await userOf(hand, organization);
    await hand.mutate('updateUser', { userId: target, name: 'Renamed' }, 'user { name }');
    return { target, organization: null };
  },
  async delete_member(hand, organization) {
    const target = await userOf(hand, organization);
    await hand.rest('DELETE', `/v3/enterprise/members/users/${target}`);
    return { target, organization: null };
  },
  async create_role(hand) {
    return { target: await makeRole(hand), organization: null };
  },
  async update_role(hand) {
    const target = await makeRole(hand);
    await hand.mutate('updateRole', { roleId: target, permissions: ['USE_SESSIONS'] }, 'role { name }');
    return { target, organization: null };
  },
  async delete_role(hand) {
    const target = await makeRole(hand);
    await hand.mutate('deleteRole', { roleId: target }, 'deletedRoleId');
    return { target, organization: null };
  },
  async assign_service_user_role(hand, organization) {
    const target = await makeRobot(hand, organization);
    const input = roleInput({ serviceUserId: target, organizationId: organization, roleId: 'org_member' });
    await hand.mutate('assignRole', input, 'serviceUser { name }');
    return { target, organization };
  },
  async remove_service_user_role(hand, organization) {
    const target = await makeRobot(hand, organization);
    const input = roleInput({ serviceUserId: target, organizationId: organization });
    await hand.mutate('unassignRole', input, 'serviceUser { name }');
    return { target, organization };
  },
  async create_service_user(hand, organization) {
    return { target: await makeRobot(hand, organization), organization };
  },
  async update_service_user(hand, organization) {
    const target = await makeRobot(hand, organization);
    await updateServiceUser(await hand.context(), target, { name: 'Renamed' });
    return { target, organization };
  },
  async delete_service_user(hand, organization) {
    const target = await makeRobot(hand, organization);
    await hand.rest('DELETE', `/v3/enterprise/members/service-users/${target}`);
    return { target, organization };
  },
  async revoke_enterprise_api_key(hand, organization) {
    const target = await makeKey(hand, { kind: 'SERVICE', organizationId: organization });
    await revokeApiKey(await hand.context(), { apiKeyId: target });
    return { target, organization };
  },
  async revoke_all_enterprise_api_keys(hand) {
    await revokeAllApiKeys(await hand.context());
    return { target: null, organization: null };
  },
  async revoke_service_user_api_key(hand, organization) {
    const serviceUserId = await makeRobot(hand, organization);
    const target = await makeKey(hand, { kind: 'SERVICE_USER', serviceUserId });
    await hand.rest('DELETE', `${keysOf(serviceUserId)}/${target}`);
    return { target, organization };
  },
  async rotate_service_user_api_key(hand, organization) {
    const serviceUserId = await makeRobot(hand, organization);
    const old = await makeKey(hand, { kind: 'SERVICE_USER', serviceUserId });
    const rotated = await hand.rest('POST', `${keysOf(serviceUserId)}/${old}/rotate`, {});
    return { target: rotated.api_key_id, organization };
  },
  async revoke_pat(hand, organization) {
    const target = await makeKey(hand, { kind: 'PERSONAL_ACCESS_TOKEN', userId: await userOf(hand, organization) });
    await revokeApiKey(await hand.context(), { apiKeyId: target });
    return { target, organization: null };
  },
  async rotate_pat(hand, organization) {
    const old = await makeKey(hand, { kind: 'PERSONAL_ACCESS_TOKEN', userId: await userOf(hand, organization) });
    const { apiKey } = await rotateApiKey(await hand.context(), { apiKeyId: old });
    return { target: prefixedId('apiKey', apiKey.id), organization: null };
  },
  async create_org_api_key(hand, organization) {
    return { target: await makeKey(hand, { kind: 'SERVICE', organizationId: organization }), organization };
  },
  async create_user_api_key(hand, organization) {
    const userId = await userOf(hand, organization);
    return { target: await makeKey(hand, { kind: 'PERSONAL', organizationId: organization, userId }), organization };
  },
  async create_service_user_api_key(hand, organization) {
    const serviceUserId = await makeRobot(hand, organization);
    return { target: await makeKey(hand, { kind: 'SERVICE_USER', serviceUserId }), organization };
  },
  async create_pat(hand, organization) {
    const userId = await userOf(hand, organization);
    return { target: await makeKey(hand, { kind: 'PERSONAL_ACCESS_TOKEN', userId }), organization: null };
  },
  async login(hand) {
    const context = await hand.context();
    await createConsoleSession(context, { isConfirmed: true });
    return { target: prefixedId('apiKey', context.viewer.apiKeyId ?? ''), organization: null };
  },
  async create_secret(hand, organization) {
    return { target: await make(hand, organization, 'secrets', secret(), 'secret_id'), organization };
  },
  async update_secret(hand, organization) {
    const target = await make(hand, organization, 'secrets', secret(), 'secret_id');
    await hand.mutate('updateSecret', { secretId: target, value: `${secretCanary}-other` }, 'secret { id }');
    return { target, organization };
  },
  async delete_secret(hand, organization) {
    const target = await make(hand, organization, 'secrets', secret(), 'secret_id');
    await hand.rest('DELETE', `${inOrganization(organization)}/secrets/${target}`);
    return { target, organization };
  },
  async create_knowledge(hand, organization) {
    return { target: await make(hand, organization, 'knowledge/notes', note, 'note_id'), organization };
  },
  async edit_knowledge(hand, organization) {
    const target = await make(hand, organization, 'knowledge/notes', note, 'note_id');
    await hand.rest('PUT', `${inOrganization(organization)}/knowledge/notes/${target}`, {
      ...note,
      body: `${words} too`,
    });
    return { target, organization };
  },
  async delete_knowledge(hand, organization) {
    const target = await make(hand, organization, 'knowledge/notes', note, 'note_id');
    await hand.rest('DELETE', `${inOrganization(organization)}/knowledge/notes/${target}`);
    return { target, organization };
  },
  async create_folder(hand, organization) {
    const folder = await createFolder(await hand.context(), { organizationId: organization }, { name: 'Folder' });
    return { target: prefixedId('folder', folder.id), organization };
  },
  async update_folder(hand, organization) {
    const context = await hand.context();
    const folder = await createFolder(context, { organizationId: organization }, { name: 'Folder' });
    await updateFolder(context, folder.id, { name: 'Renamed' });
    return { target: prefixedId('folder', folder.id), organization };
  },
  async delete_folder(hand, organization) {
    const context = await hand.context();
    const folder = await createFolder(context, { organizationId: organization }, { name: 'Folder' });
    await deleteFolder(context, folder.id);
    return { target: prefixedId('folder', folder.id), organization };
  },
  async create_playbook(hand, organization) {
    return { target: await make(hand, organization, 'playbooks', playbook, 'playbook_id'), organization };
  },
  async update_playbook(hand, organization) {
    const target = await make(hand, organization, 'playbooks', playbook, 'playbook_id');
    await hand.rest('PUT', `${inOrganization(organization)}/playbooks/${target}`, {
      ...playbook,
      body: `${words} too`,
    });
    return { target, organization };
  },
  async delete_playbook(hand, organization) {
    const target = await make(hand, organization, 'playbooks', playbook, 'playbook_id');
    await hand.rest('DELETE', `${inOrganization(organization)}/playbooks/${target}`);
    return { target, organization };
  },
  async create_automation(hand, organization) {
    return { target: await make(hand, organization, 'automations', automation, 'automation_id'), organization };
  },
  async update_automation(hand, organization) {
    const target = await make(hand, organization, 'automations', automation, 'automation_id');
    const actions = [{ type: 'start_session', prompt: `${words} too` }];
    await hand.rest('PATCH', `${inOrganization(organization)}/automations/${target}`, { actions });
    return { target, organization };
  },
  async delete_automation(hand, organization) {
    const target = await make(hand, organization, 'automations', automation, 'automation_id');
    await hand.rest('DELETE', `${inOrganization(organization)}/automations/${target}`);
    return { target, organization };
  },
  async run_automation(hand, organization) {
    const target = await make(hand, organization, 'automations', automation, 'automation_id');
    await hand.rest('POST', `${inOrganization(organization)}/automations/${target}/run`);
    return { target, organization };
  },
  async create_webhook_endpoint(hand, organization) {
    return { target: await makeWebhookEndpoint(hand, organization), organization };
  },
  async update_webhook_endpoint(hand, organization) {
    const target = await makeWebhookEndpoint(hand, organization);
    const change = { webhookEndpointId: target, url: 'https://hooks.example/other' };
    await hand.mutate('updateWebhookEndpoint', change, 'webhookEndpoint { url }');
    return { target, organization };
  },
  async delete_webhook_endpoint(hand, organization) {
    const target = await makeWebhookEndpoint(hand, organization);
    await hand.mutate('deleteWebhookEndpoint', { webhookEndpointId: target }, 'deletedWebhookEndpointId');
    return { target, organization };
  },
  async test_webhook_endpoint(hand, organization) {
    const target = await makeWebhookEndpoint(hand, organization);
    await testWebhookEndpoint(hand, target);
    return { target, organization };
  },
  async redeliver_webhook(hand, organization) {
    const target = await testWebhookEndpoint(hand, await makeWebhookEndpoint(hand, organization));
    await hand.mutate('redeliverWebhookDelivery', { webhookDeliveryId: target }, 'webhookDelivery { status }');
    return { target, organization };
  },
};
