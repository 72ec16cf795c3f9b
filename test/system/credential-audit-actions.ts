import { secretCanary } from '../support/leaks.ts';
import { makeUsableRepository } from '../support/repositories.ts';
import type { Actor, AuditedAction } from './audit-actor.ts';

let connections = 0;

/** Creates a connection to a server that does not exist. */
async function makeGitConnection({ mutate }: Actor): Promise<string> {
  const access = { providerType: 'GITEA_TOKEN', host: '127.0.0.1:1', token: `${secretCanary}-token` };
  const input = { ...access, name: `Forge ${++connections}` };
  return (await mutate('createGitConnection', input, 'gitConnection { gitConnectionId }')).gitConnection
    .gitConnectionId;
}

async function makeGitPermission(actor: Actor, organizationId: string): Promise<string> {
  const input = { organizationId, gitConnectionId: await makeGitConnection(actor), groupPrefix: 'acme' };
  const made = await actor.mutate('createGitPermission', input, 'gitPermission { gitPermissionId }');
  return made.gitPermission.gitPermissionId;
}

/** Creates a key for a server that does not exist. */
async function makeProviderKey(actor: Actor, organizationId: string): Promise<string> {
  const values = { provider: 'COMPATIBLE', name: 'Team', key: `${secretCanary}-key`, baseUrl: 'http://127.0.0.1:1/v1' };
  const input = { scope: { organizationId }, ...values };
  return (await actor.mutate('createProviderKey', input, 'providerKey { providerKeyId }')).providerKey.providerKeyId;
}

/** Acts on git connections, git permissions and provider keys. */
export const credentialAuditedActions = {
  async create_provider_key(actor, organization) {
    return { target: await makeProviderKey(actor, organization), organization };
  },
  async update_provider_key(actor, organization) {
    const target = await makeProviderKey(actor, organization);
    await actor.mutate(
      'updateProviderKey',
      { providerKeyId: target, key: `${secretCanary}-other` },
      'providerKey { id }',
    );
    return { target, organization };
  },
  async delete_provider_key(actor, organization) {
    const target = await makeProviderKey(actor, organization);
    await actor.mutate('deleteProviderKey', { providerKeyId: target }, 'deletedProviderKeyId');
    return { target, organization };
  },
  async test_provider_key(actor, organization) {
    const target = await makeProviderKey(actor, organization);
    await actor.mutate('testProviderKey', { providerKeyId: target }, 'test { code }');
    return { target, organization };
  },
  async create_git_connection(actor) {
    return { target: await makeGitConnection(actor), organization: null };
  },
  async update_git_connection(actor) {
    const gitConnectionId = await makeGitConnection(actor);
    await actor.mutate(
      'updateGitConnection',
      { gitConnectionId, token: `${secretCanary}-other` },
      'gitConnection { id }',
    );
    return { target: gitConnectionId, organization: null };
  },
  async delete_git_connection(actor) {
    const gitConnectionId = await makeGitConnection(actor);
    await actor.mutate('deleteGitConnection', { gitConnectionId }, 'deletedGitConnectionId');
    return { target: gitConnectionId, organization: null };
  },
  async test_git_connection(actor) {
    const gitConnectionId = await makeGitConnection(actor);
    await actor.mutate('testGitConnection', { gitConnectionId }, 'test { code }');
    return { target: gitConnectionId, organization: null };
  },
  async create_git_permission(actor, organization) {
    return { target: await makeGitPermission(actor, organization), organization };
  },
  async update_git_permission(actor, organization) {
    const gitPermissionId = await makeGitPermission(actor, organization);
    await actor.mutate('updateGitPermission', { gitPermissionId, isReadOnly: true }, 'gitPermission { id }');
    return { target: gitPermissionId, organization };
  },
  async delete_git_permission(actor, organization) {
    const gitPermissionId = await makeGitPermission(actor, organization);
    await actor.mutate('deleteGitPermission', { gitPermissionId }, 'deletedGitPermissionId');
    return { target: gitPermissionId, organization };
  },
  async update_repository({ app, mutate }, organization) {
    const target = await makeUsableRepository(app, organization);
    await mutate('updateRepository', { repositoryId: target, isDeletionAllowed: true }, 'repository { id }');
    return { target, organization: null };
  },
} as const satisfies Record<string, AuditedAction>;
