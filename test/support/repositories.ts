import { newId, parseId } from '../../src/domain/ids.ts';
import type { TestApp } from './app.ts';
import { connectForge } from './connected-forge.ts';

/** Stores a repository of `git.test` as if a session had used it, and returns its id. */
export async function makeRepository(test: TestApp, enterpriseId: string, path = `acme/${newId()}`): Promise<string> {
  const { store, now } = test.app.services;
  const id = newId();
  const names = { host: 'git.test', path, pathKey: path.toLowerCase() };
  const times = { createdAt: now(), updatedAt: now(), readAt: now() };
  await store.prisma.repository.create({ data: { id, enterpriseId, ...names, ...times } });
  return `repository-${id}`;
}

/** Stores a repository that an organization may use, and returns its id. */
export async function makeUsableRepository(test: TestApp, organizationId: string): Promise<string> {
  const id = parseId('organization', organizationId) ?? '';
  await connectForge(test, [organizationId]);
  const { enterpriseId } = await test.app.services.store.prisma.organization.findUniqueOrThrow({ where: { id } });
  return makeRepository(test, enterpriseId);
}
