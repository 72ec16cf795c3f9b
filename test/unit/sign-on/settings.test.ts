import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isDomainAllowed, readOidcSettings } from '../../../src/oidc/settings.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'switchyard-oidc-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const good = {
  id: 'okta',
  label: 'Okta',
  issuer: 'https://id.example.com',
  clientId: 'c',
  allowedDomains: ['example.com'],
};

async function read(content: unknown) {
  const path = join(directory, 'providers.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readOidcSettings(path);
}

const problemsOf = async (...providers: object[]) => {
  const error = await read({ providers }).catch((reason: Error) => reason);
  return error instanceof Error
    ? error.message
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
    : [];
};

it('has defaults', async () => {
  expect(await read({ providers: [good] })).toEqual([
    {
      ...good,
      clientSecret: null,
      scopes: ['openid', 'email', 'profile'],
      trustEmail: false,
      groupPrefix: '',
      clockToleranceSeconds: 30,
      sessionHours: 12,
      refuseTokens: false,
      signOutAtProvider: true,
    },
  ]);
});

it('reads the secret of the client from a file, without the newline at its end', async () => {
  const clientSecretFile = join(directory, 'secret');
  await writeFile(clientSecretFile, 'of the client\n');
  const [provider] = await read({ providers: [{ ...good, clientSecretFile }] });
  expect(provider?.clientSecret).toBe('of the client');
  expect(JSON.stringify(provider)).not.toContain('clientSecretFile');
  expect(await problemsOf({ ...good, clientSecretFile, clientSecret: 's' })).toEqual([
    'providers.0: clientSecret and clientSecretFile must not both be set',
  ]);
  expect(await problemsOf({ ...good, clientSecretFile: join(directory, 'none') })).toEqual([
    'providers.0.clientSecretFile: names no file with a secret',
  ]);
});

it('lists all problems by path, and never quotes the file', async () => {
  expect(await problemsOf({ ...good, issuer: 'http://id.example.com', allowedDomains: [], scopes: ['email'] })).toEqual(
    [
      'providers.0.issuer: must be an address that begins with https:// and has no query; http:// only on this computer',
      'providers.0.scopes: must contain "openid"',
      'providers.0.allowedDomains: must name at least one domain, or "*" for all',
    ],
  );
  expect(await problemsOf({ ...good, id: 'Okta!' }, { ...good, allowedDomains: ['not a domain'] })).toHaveLength(2);
  expect(await problemsOf(good, good)).toEqual(['providers.1.id: must be unique']);
  await expect(read('{ "clientSecret": "s3cret" ')).rejects.toThrow(/providers\.json\) is not valid JSON\.$/);
  await expect(readOidcSettings(join(directory, 'missing'))).rejects.toThrow('cannot be read (ENOENT)');
});

it('keeps the groups of several providers apart', async () => {
  const [a, b] = ['a', 'b'].map((id) => ({ ...good, id, groupsClaim: 'groups' }));
  expect(await problemsOf({ ...a }, { ...b, groupPrefix: 'b:' })).toEqual([
    'b.groupPrefix: of several providers with groups, none may begin with the prefix of another',
  ]);
  expect(await problemsOf({ ...a, groupPrefix: 'a:' }, { ...b, groupPrefix: 'b:' })).toEqual([]);
});

it.each([
  ['a@example.com', true],
  ['a@EXAMPLE.com', true],
  ['a@sub.example.com', false],
  ['a@example.com.evil.org', false],
  ['a@evil.org@example.com', true],
  ['example.com', false],
])('knows if the domain of %s is allowed', (email, isAllowed) => {
  expect(isDomainAllowed({ allowedDomains: ['example.com'] }, email)).toBe(isAllowed);
  expect(isDomainAllowed({ allowedDomains: ['*'] }, email)).toBe(email.includes('@'));
});
