import { newId, parseId } from '../../src/domain/ids.ts';
import type { TestApp } from './app.ts';

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
