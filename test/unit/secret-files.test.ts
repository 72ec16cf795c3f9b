import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { describeSettings, findSecretValues } from '../../src/config/describe-settings.ts';
import { settingNames } from '../../src/config/variables.ts';

const directory = mkdtempSync(join(tmpdir(), 'switchyard-secret-files-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function fileWith(text: string): string {
  const path = join(directory, Math.random().toString(36).slice(2));
  writeFileSync(path, text);
  return path;
}

const secretKey = 'a secret key from a file, long enough';

it.each([
  ['SECRET_KEY', secretKey, { secretKey }],
  ['SECRET_KEY_PREVIOUS', secretKey, { previousSecretKey: secretKey }],
  ['DATABASE_URL', 'postgres://u:p@db/x', { databaseUrl: 'postgres://u:p@db/x' }],
  ['BOOTSTRAP_TOKEN', `cog_${'a'.repeat(32)}`, { bootstrapToken: `cog_${'a'.repeat(32)}` }],
])('reads %s from a file, without the newline at its end', (name, value, config) => {
  for (const end of ['', '\n', '\r\n']) {
    expect(readConfig({ [`${name}_FILE`]: fileWith(`${value}${end}`) })).toMatchObject(config);
  }
});

it('reads the keys of the bucket and of model providers from files', () => {
  const config = readConfig({
    S3_BUCKET: 'b',
    S3_ACCESS_KEY_ID_FILE: fileWith('id\n'),
    S3_SECRET_ACCESS_KEY_FILE: fileWith('key\n\n'),
    OPENAI_API_KEY_FILE: fileWith('sk-of-openai\n'),
    ANTHROPIC_API_KEY: 'sk-1',
    ANTHROPIC_API_KEY_FILE: fileWith('sk-2'),
  });
  // Only one newline is trimmed.
  expect(config.s3?.credentials).toEqual({ accessKeyId: 'id', secretAccessKey: 'key\n' });
  expect(config.readVariable('OPENAI_API_KEY')).toBe('sk-of-openai');
  expect(() => config.readVariable('ANTHROPIC_API_KEY')).toThrow(
    'ANTHROPIC_API_KEY and ANTHROPIC_API_KEY_FILE must not both be set.',
  );
  // A profile cannot name the service's own secrets.
  expect(config.readVariable('S3_SECRET_ACCESS_KEY')).toBeUndefined();
  expect(config.readVariable('S3_SECRET_ACCESS_KEY_FILE')).toBeUndefined();
});

it('reports every unusable file with the other problems, by variable and without its path or content', () => {
  const folder = join(directory, 'folder');
  mkdirSync(folder);
  const environment = {
    SECRET_KEY: secretKey,
    SECRET_KEY_FILE: fileWith('another key, which is long enough too'),
    SECRET_KEY_PREVIOUS_FILE: fileWith('content-too-short'),
    DATABASE_URL_FILE: folder,
    BOOTSTRAP_TOKEN_FILE: join(directory, 'missing'),
    S3_ACCESS_KEY_ID_FILE: fileWith('\n'),
    S3_SECRET_ACCESS_KEY_FILE: fileWith('x'.repeat(65_537)),
    PORT: 'many',
  };
  let message = '';
  try {
    readConfig(environment);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message.split('\n').slice(1).sort()).toEqual(
    [
      'BOOTSTRAP_TOKEN_FILE names a file that cannot be read (ENOENT).',
      'DATABASE_URL_FILE must name a file.',
      'PORT must be a number.',
      'S3_ACCESS_KEY_ID_FILE must not name an empty file.',
      'S3_SECRET_ACCESS_KEY_FILE must name a file of at most 64 KiB.',
      'SECRET_KEY and SECRET_KEY_FILE must not both be set.',
      'SECRET_KEY_PREVIOUS must have at least 32 characters.',
    ].map((line) => `  ${line}`),
  );
  expect(message).not.toContain(directory);
  expect(message).not.toContain('content-too-short');
});

it('takes every variable that looks like a secret from a file', () => {
  // GRAPHQL_CACHE_MB and its like have no secret; TRUSTED_… are names of files and switches, and TOKENS are those of models.
  const secretLooking = settingNames.filter((name) => /SECRET|TOKEN(?!S)|PASSWORD|_KEY|DATABASE_URL/.test(name));
  expect(secretLooking.length).toBeGreaterThan(5);
  for (const name of secretLooking) {
    const read = () => readConfig({ [`${name}_FILE`]: join(directory, 'missing') });
    expect(read).toThrow(`${name}_FILE names a file that cannot be read`);
  }
});

it('describes settings without secrets', () => {
  const environment = {
    PORT: '4001',
    BASE_URL: 'https://user:hunter22@service.example/x?token=abcdef',
    DATABASE_URL: 'postgres://user:swordfish@db/x',
    DATABASE_REPLICA_URLS: 'postgres://user:marlin@one/x,postgres://user:barracuda@two/x',
    SECRET_KEY_FILE: fileWith(secretKey),
    HTTPS_PROXY: 'http://proxy:proxy-password@proxy.example:3128',
    OPENAI_API_KEY: 'sk-planted',
    UNRELATED: 'not shown',
  };
  expect(describeSettings(environment)).toEqual({
    PORT: '4001',
    BASE_URL: 'https://service.example/x',
    DATABASE_URL: '(secret)',
    DATABASE_REPLICA_URLS: '(secret)',
    SECRET_KEY: '(secret, from a file)',
  });
  expect(findSecretValues(environment)).toEqual(
    expect.arrayContaining([
      'hunter22',
      'abcdef',
      'swordfish',
      'marlin',
      'barracuda',
      secretKey,
      'proxy-password',
      'sk-planted',
    ]),
  );
});
