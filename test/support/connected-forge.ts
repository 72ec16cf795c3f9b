import { newId, parseId } from '../../src/domain/ids.ts';
import type { TestApp } from './app.ts';
import { forgeAccount, type GitForge } from './git-forge.ts';

/** Connects a forge `git.test` that does not exist, and permits organizations to use all repositories of `acme`. */
export async function connectForge(test: TestApp, organizationIds: readonly string[]): Promise<void> {
  const { store, now } = test.app.services;
  const ids = organizationIds.map((id) => parseId('organization', id) ?? '');
  const { enterpriseId } = await store.prisma.organization.findUniqueOrThrow({ where: { id: ids[0] ?? '' } });
  const gitConnectionId = newId();
  const forge = { providerType: 'github_token', name: gitConnectionId, host: 'git.test', hostKey: 'git.test' };
  const times = { createdAt: now(), updatedAt: now() };
  await store.prisma.gitConnection.create({ data: { id: gitConnectionId, enterpriseId, ...forge, ...times } });
  for (const organizationId of ids) {
    const permission = { id: newId(), organizationId, gitConnectionId, groupPrefix: 'acme', createdAt: now() };
    await store.prisma.gitPermission.create({ data: permission });
  }
}

/** Connects a real forge for the organization of a test, which may use one of its repositories. */
export async function connectGitForge(test: TestApp, forge: GitForge, path: string): Promise<void> {
  const { store, keyring, now } = test.app.services;
  const organizationId = parseId('organization', test.organizationId) ?? '';
  const { enterpriseId } = await store.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } });
  const id = newId();
  const times = { createdAt: now(), updatedAt: now() };
  const host = { host: forge.url, hostKey: forge.host, username: forgeAccount.username };
  const sealed = keyring.seal(JSON.stringify({ token: forgeAccount.password }), `${enterpriseId}:${id}`);
  await store.prisma.gitConnection.create({
    data: { id, enterpriseId, providerType: 'git_https', name: id, ...host, sealed, ...times },
  });
  await store.prisma.gitPermission.create({
    data: { id: newId(), organizationId, gitConnectionId: id, repoPath: path, createdAt: now() },
  });
}
