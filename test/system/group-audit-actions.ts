import { randomUUID } from 'node:crypto';
import { beginAuditExport } from '../../src/domain/audit/export/export-audit-log.ts';
import { patchOf } from '../support/scim.ts';
import type { Actor, AuditedAction } from './audit-actor.ts';

let groups = 0;

/** Registers a group of an identity provider, and returns its name. */
async function registerGroup({ rest }: Actor): Promise<string> {
  const name = `group-${++groups}`;
  await rest('POST', '/v3/enterprise/idp-groups', { idp_group_names: [name] });
  return name;
}

/** Creates a group like a directory, with a member if one is named. */
const makeScimGroup = ({ rest }: Actor, member?: string): Promise<{ id: string }> =>
  rest('POST', '/scim/v2/Groups', {
    displayName: `scim-group-${++groups}`,
    members: member === undefined ? [] : [{ value: member }],
  });

const atEnterprise = (group: string) => `/v3/enterprise/members/idp-groups/${group}`;

/** Registers a group and gives it a role on the enterprise. */
async function makeMemberGroup(actor: Actor): Promise<string> {
  const group = await registerGroup(actor);
  await actor.rest('POST', atEnterprise(group), { role_id: 'account_member' });
  return group;
}

/** Creates a user with a sign-in link, and returns its id. */
async function makeLink({ mutate }: Actor, organizationId: string): Promise<string> {
  const input = { email: `${randomUUID()}@example.test`, scope: { organizationId }, roleId: 'org_member' };
  const { userId } = (await mutate('createUser', input, 'user { userId }')).user;
  await mutate('createSignInLink', { userId }, 'url');
  return userId;
}

/** Creates a user and deactivates it. Returns its id. */
async function makeDeactivated(actor: Actor, organizationId: string): Promise<string> {
  const userId = await makeLink(actor, organizationId);
  await actor.mutate('deactivateUser', { userId }, 'user { deactivatedAt }');
  return userId;
}

/** Puts a legal hold on an organization, and returns its id. */
async function makeHold({ mutate }: Actor, organizationId: string): Promise<string> {
  const input = { target: { organizationId }, reason: 'A request of a court' };
  return (await mutate('createLegalHold', input, 'legalHold { legalHoldId }')).legalHold.legalHoldId;
}

// A group has no id, so its entries name no target.
const onEnterprise = { target: null, organization: null };

/** Acts on groups of identity providers, on sign-in links, on the access of users, on the audit log itself, and on legal holds. */
export const groupAuditedActions = {
  async create_audit_log_export(actor, organizationId) {
    await beginAuditExport(await actor.context(), { organizationId });
    return { target: null, organization: organizationId };
  },
  async create_legal_hold(actor, organization) {
    return { target: await makeHold(actor, organization), organization };
  },
  async release_legal_hold(actor, organization) {
    const target = await makeHold(actor, organization);
    await actor.mutate('releaseLegalHold', { legalHoldId: target }, 'legalHold { id }');
    return { target, organization };
  },
  async create_sign_in_link(actor, organization) {
    return { target: await makeLink(actor, organization), organization: null };
  },
  async revoke_sign_in_link(actor, organization) {
    const target = await makeLink(actor, organization);
    await actor.mutate('revokeSignInLink', { userId: target }, 'user { userId }');
    return { target, organization: null };
  },
  async deactivate_member(actor, organization) {
    return { target: await makeDeactivated(actor, organization), organization: null };
  },
  async reactivate_member(actor, organization) {
    const target = await makeDeactivated(actor, organization);
    await actor.mutate('reactivateUser', { userId: target }, 'user { deactivatedAt }');
    return { target, organization: null };
  },
  async deny_device_authorization(actor) {
    const form = new URLSearchParams({ 'client_id': 'switchyard-cli' });
    const response = await fetch(`${actor.app.url}/oauth/device_authorization`, { method: 'POST', body: form });
    const { 'user_code': userCode } = (await response.json()) as { 'user_code': string };
    await actor.mutate('denyDeviceAuthorization', { userCode }, 'isDenied');
    return onEnterprise;
  },
  async create_idp_group(actor) {
    await registerGroup(actor);
    return onEnterprise;
  },
  async delete_idp_group(actor) {
    await actor.rest('DELETE', `/v3/enterprise/idp-groups/${await registerGroup(actor)}`);
    return onEnterprise;
  },
  async update_idp_group(actor) {
    const { id } = await makeScimGroup(actor);
    const change = patchOf({ op: 'replace', path: 'externalId', value: 'another' });
    await actor.rest('PATCH', `/scim/v2/Groups/${id}`, change);
    return onEnterprise;
  },
  async add_members_to_idp_group(actor, organization) {
    const target = await makeLink(actor, organization);
    await makeScimGroup(actor, target);
    return { target, organization: null };
  },
  async remove_members_from_idp_group(actor, organization) {
    const target = await makeLink(actor, organization);
    const { id } = await makeScimGroup(actor, target);
    await actor.rest('PATCH', `/scim/v2/Groups/${id}`, patchOf({ op: 'remove', path: 'members' }));
    return { target, organization: null };
  },
  async add_group_membership(actor) {
    await makeMemberGroup(actor);
    return onEnterprise;
  },
  async update_group_membership(actor, organization) {
    const path = `/v3/enterprise/organizations/${organization}/members/idp-groups/${await makeMemberGroup(actor)}`;
    await actor.rest('POST', path, { role_id: 'org_member' });
    await actor.rest('PATCH', path, { role_id: 'org_admin' });
    return { target: null, organization };
  },
  async delete_group_membership(actor) {
    await actor.rest('DELETE', atEnterprise(await makeMemberGroup(actor)));
    return onEnterprise;
  },
} satisfies Record<string, AuditedAction>;
