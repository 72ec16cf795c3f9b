import { beforeEach, expect, it } from 'vitest';
import { connectionAssociatedData, openConnection } from '../../src/domain/git-connections/open-connection.ts';
import { newId } from '../../src/domain/ids.ts';
import { readPushSettings } from '../../src/domain/repositories/push-settings.ts';
import { resolveRepositories, usableRepository } from '../../src/domain/repositories/resolve-repositories.ts';
import type { Row } from '../../src/store/tables.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();
const services = () => test.app.services;

let enterpriseId: string;
let organizationId: string;
let host: string;
let connectionId: string;
beforeEach(async () => {
  organizationId = (await makeOrganization(test, newId())).organizationId.replace('org-', '');
  ({ enterpriseId } = await services().store.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } }));
  host = `git-${newId().slice(-8)}.example.com`;
  connectionId = await connect(host);
});

async function connect(address: string, values: Partial<Row<'GitConnection'>> = {}): Promise<string> {
  const id = newId();
  const now = services().now();
  const sealed = services().keyring.seal(JSON.stringify({ token: 'tok' }), connectionAssociatedData(enterpriseId, id));
  const names = { providerType: 'gitea_token', name: newId(), host: address, hostKey: address.split('/')[0] as string };
  const { lastTest: _test, lastFailure: _failure, lastWebhookRefusal: _refusal, ...rest } = values;
  const data = { id, enterpriseId, ...names, sealed, createdAt: now, updatedAt: now, ...rest };
  await services().store.prisma.gitConnection.create({ data });
  return id;
}
async function permit(target: Partial<Row<'GitPermission'>>, connection = connectionId): Promise<string> {
  const id = newId();
  const createdAt = services().now();
  const data = { id, organizationId, gitConnectionId: connection, createdAt, ...target };
  await services().store.prisma.gitPermission.create({ data });
  return id;
}
const resolve = (...references: string[]) =>
  services().store.transact((tx) => resolveRepositories(services(), tx, organizationId, references));

it('reads a reference in each form, and creates one row for all', async () => {
  await permit({ groupPrefix: 'Acme' });
  const forms = [
    'acme/Site',
    `${host}/acme/site`,
    `https://${host}/acme/site.git`,
    `https://user:secret@${host.toUpperCase()}/acme/site/`,
    `ssh://git@${host}:2222/acme/site.git`,
    `git@${host}:acme/site.git`,
  ];
  const found = await resolve(...forms);
  expect(new Set(found.map(({ repositoryId }) => repositoryId)).size).toBe(1);
  const [first] = await resolve('ACME/SITE');
  expect(first).toEqual({
    ...{ repositoryId: found[0]?.repositoryId, connectionId, connectionName: expect.any(String) },
    ...{ kind: 'gitea_token', host, path: 'acme/Site' },
    ...{ cloneUrl: `https://${host}/acme/Site.git`, defaultBranch: null, isReadOnly: false },
    pushSettings: readPushSettings(null),
  });
  expect(await resolve(`repository-${first?.repositoryId}`)).toEqual([first]);
});

it('reads the paths of subgroups at GitLab and plain git, and of a base URL with a path', async () => {
  await permit({ groupPrefix: 'acme' });
  await expect(resolve('acme/web/site')).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
  for (const providerType of ['gitlab_token', 'git_https']) {
    await services().store.prisma.gitConnection.update({ where: { id: connectionId }, data: { providerType } });
    expect(await resolve('acme/web/site')).toMatchObject([{ host, path: 'acme/web/site' }]);
  }
  await services().store.prisma.gitConnection.update({
    where: { id: connectionId },
    data: { providerType: 'gitea_token' },
  });
  const below = await connect(`${host}/forge`);
  await permit({ groupPrefix: 'other' }, below);
  const [found] = await resolve(`https://${host}/forge/other/site.git`);
  expect(found).toMatchObject({
    connectionId: below,
    path: 'other/site',
    cloneUrl: `https://${host}/forge/other/site.git`,
  });
});

it('grants only what a permission covers', async () => {
  connectionId = await connect(host, { providerType: 'gitlab_token' });
  await permit({ repoPath: 'acme/site' });
  await permit({ groupPrefix: 'group/sub' });
  await permit({ prefixPath: 'team/web-' });
  for (const usable of ['acme/SITE', 'group/sub/a', 'group/sub/b/c', 'team/web-app']) await resolve(usable);
  const refused = [
    ...[
      'acme/site2',
      'acme/other',
      'group/subway/a',
      'group/sub',
      'team/api',
      'other/site',
      `other.example.com/acme/site`,
    ],
    ...[
      '',
      'site',
      '../acme/site',
      'acme/../site',
      'acme/site\u202e',
      'acme/si te',
      '-acme/site',
      'file:///acme/site',
      newId(),
    ],
  ];
  for (const reference of refused) {
    await expect(resolve('acme/site', reference), reference).rejects.toMatchObject({
      code: 'UNKNOWN_REFERENCE',
      issues: [{ path: ['repositories', '1', 'repository'] }],
    });
  }
});

it('prefers permissions that can write, then exact ones, then the oldest', async () => {
  const other = await connect(host);
  await permit({ repoPath: 'acme/site', isReadOnly: true });
  expect(await resolve('acme/site')).toMatchObject([{ connectionId, isReadOnly: true }]);
  await permit({ groupPrefix: 'acme' }, other);
  expect(await resolve('acme/site')).toMatchObject([{ connectionId: other, isReadOnly: false }]);
  await permit({ prefixPath: 'acme/' });
  expect(await resolve('acme/site')).toMatchObject([{ connectionId: other }]);
  await permit({ repoPath: 'acme/SITE', isReadOnly: false }, await connect(host));
  const [last] = await resolve('acme/site');
  expect([connectionId, other]).not.toContain(last?.connectionId);
});

it('takes a revoked permission and a deleted connection into account at once', async () => {
  const permission = await permit({ repoPath: 'acme/site' });
  const [{ repositoryId } = { repositoryId: '' }] = await resolve('acme/site');
  expect(await usableRepository(services(), organizationId, repositoryId)).toMatchObject({ path: 'acme/site' });
  const forge = await openConnection(services(), connectionId);
  expect(forge).toMatchObject({ kind: 'gitea_token', host });

  await services().store.prisma.gitPermission.delete({ where: { id: permission } });
  expect(await usableRepository(services(), organizationId, repositoryId)).toBeNull();
  await permit({ prefixPath: 'acme/' });
  expect(await usableRepository(services(), organizationId, repositoryId)).not.toBeNull();
  const data = { sealed: null, deletedAt: services().now() };
  await services().store.prisma.gitConnection.update({ where: { id: connectionId }, data });
  expect(await usableRepository(services(), organizationId, repositoryId)).toBeNull();
  await expect(resolve(repositoryId)).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
  await expect(openConnection(services(), connectionId)).rejects.toMatchObject({ code: 'INVALID_CONNECTION' });
});

it('needs no permission in an enterprise with one organization, unless there is one for the connection', async () => {
  await expect(resolve('acme/site')).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
  const alone = newId();
  const now = services().now();
  await services().store.prisma.enterprise.create({ data: { id: alone, name: alone, createdAt: now } });
  await services().store.prisma.organization.update({ where: { id: organizationId }, data: { enterpriseId: alone } });
  enterpriseId = alone;
  connectionId = await connect(host);
  expect(await resolve('acme/site')).toMatchObject([{ connectionId, isReadOnly: false }]);
  await permit({ groupPrefix: 'acme', isReadOnly: true });
  expect(await resolve('acme/site')).toMatchObject([{ isReadOnly: true }]);
  await expect(resolve('other/site')).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
});

it('takes a host that is not connected as unknown, not as a group of a connected host', async () => {
  const alone = newId();
  const now = services().now();
  await services().store.prisma.enterprise.create({ data: { id: alone, name: alone, createdAt: now } });
  await services().store.prisma.organization.update({ where: { id: organizationId }, data: { enterpriseId: alone } });
  enterpriseId = alone;
  connectionId = await connect(host);
  const refuses = async (...references: string[]) => {
    for (const reference of references)
      await expect(resolve(reference), reference).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
  };
  const foreign = ['github.com/acme/site', 'other.example/acme/site', 'other.example/acme/web/site'];
  for (const providerType of ['github_app', 'github_token', 'gitea_token']) {
    await services().store.prisma.gitConnection.update({ where: { id: connectionId }, data: { providerType } });
    await refuses(...foreign, 'a/b/c', 'a/b/c/d', `${host}/a/b/c`, `https://${host}/a/b/c`);
  }
  for (const providerType of ['gitlab_token', 'git_https']) {
    await services().store.prisma.gitConnection.update({ where: { id: connectionId }, data: { providerType } });
    await refuses(...foreign);
    expect(await resolve('a/b/c/d', `${host}/group.example/web/site`)).toMatchObject([
      { host, path: 'a/b/c/d' },
      { host, path: 'group.example/web/site' },
    ]);
  }
  await permit({ groupPrefix: 'group.example' });
  expect(await resolve('group.example/web/site')).toMatchObject([{ host, path: 'group.example/web/site' }]);
});

it('never resolves the repository of another enterprise, also by its id', async () => {
  await permit({ repoPath: 'acme/site' });
  const [{ repositoryId } = { repositoryId: '' }] = await resolve('acme/site');
  const alone = newId();
  const now = services().now();
  await services().store.prisma.enterprise.create({ data: { id: alone, name: alone, createdAt: now } });
  await services().store.prisma.organization.update({ where: { id: organizationId }, data: { enterpriseId: alone } });
  await expect(resolve(repositoryId)).rejects.toMatchObject({ code: 'UNKNOWN_REFERENCE' });
  expect(await usableRepository(services(), organizationId, repositoryId)).toBeNull();
});
