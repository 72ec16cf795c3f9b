import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';

describe('TRUST_PROXY', () => {
  it.each([
    [undefined, 0],
    ['', 0],
    ['0', 0],
    ['2', 2],
    ['loopback', ['loopback']],
    ['10.0.0.0/8, ::1,fd00::/8 , uniquelocal', ['10.0.0.0/8', '::1', 'fd00::/8', 'uniquelocal']],
  ])('accepts %j', (input, trustProxy) => {
    expect(readConfig({ TRUST_PROXY: input })).toMatchObject({ trustProxy });
  });

  it.each([
    'true',
    '33',
    '-1',
    '1.5',
    'loopback,',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0',
    'fe80::1%eth0',
    '10.0.0.0/8/8',
    'example.com',
  ])('refuses %j without repeating it', (input) => {
    const read = () => readConfig({ TRUST_PROXY: input });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/^The configuration has a problem:\n {2}TRUST_PROXY must be a number of proxies/);
  });
});

describe('CORS_ORIGINS', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['*', ['*']],
    ['https://a.example, http://localhost:5173,https://a.example/', ['https://a.example', 'http://localhost:5173']],
    ['HTTPS://A.Example:443,http://[::1]:80', ['https://a.example', 'http://[::1]']],
  ])('accepts the list %j', (input, corsOrigins) => {
    expect(readConfig({ CORS_ORIGINS: input })).toMatchObject({ corsOrigins });
  });

  it.each([
    '*,https://a.example',
    'https://*.a.example/x',
    'a.example',
    'https://a.example/console',
    'https://a.example?x',
    'https://user@a.example',
    'ftp://a.example',
    'null',
    'https://a.example,',
  ])('refuses the list %j without repeating it', (input) => {
    const read = () => readConfig({ CORS_ORIGINS: input });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(
      /^The configuration has a problem:\n {2}CORS_ORIGINS must be a comma-separated list of origins/,
    );
  });
});

describe('RATE_LIMIT_…', () => {
  it('have default values', () => {
    expect(readConfig({})).toMatchObject({ rateLimitRest: 600, rateLimitGraphql: 60_000, rateLimitLogin: 30 });
  });

  it('are whole numbers, 0 for no limit', () => {
    const input = { RATE_LIMIT_REST: '0', RATE_LIMIT_GRAPHQL: '1', RATE_LIMIT_LOGIN: '100000000' };
    expect(readConfig(input)).toMatchObject({ rateLimitRest: 0, rateLimitGraphql: 1, rateLimitLogin: 100_000_000 });
  });

  it('are all reported at once', () => {
    const input = { RATE_LIMIT_REST: '-1', RATE_LIMIT_GRAPHQL: 'many', RATE_LIMIT_LOGIN: '1.5' };
    expect(() => readConfig(input)).toThrow(
      'RATE_LIMIT_REST must be 0 (no limit) or more.\n  RATE_LIMIT_GRAPHQL must be a number.\n  RATE_LIMIT_LOGIN must be an integer.',
    );
  });
});

describe('S3_… and MAX_ATTACHMENT_MB', () => {
  it('default to a directory below DATA_DIR and 100 MiB', () => {
    expect(readConfig({ DATA_DIR: '/srv/switchyard' })).toMatchObject({
      s3: null,
      attachmentsDir: '/srv/switchyard/attachments',
      maxAttachmentBytes: 104_857_600,
      maxToolOutputBytes: 524_288_000,
      maxRepositoryBytes: 8_589_934_592,
      maxMirrorsBytes: 107_374_182_400,
      checkpoints: {
        ...{ isOn: true, maxFileBytes: 8_589_934_592, maxIgnoredBytes: 2_147_483_648, retentionMs: 2_592_000_000 },
      },
    });
    const off = { CHECKPOINTS: 'off', CHECKPOINT_RETENTION_DAYS: '0', MAX_IGNORED_FILES_MB: '0' };
    expect(readConfig(off).checkpoints).toMatchObject({ isOn: false, retentionMs: null, maxIgnoredBytes: 0 });
    expect(readConfig({ ATTACHMENTS_DIR: '/mnt/shared' })).toMatchObject({ attachmentsDir: '/mnt/shared' });
  });

  it("are a bucket, by default Amazon's with the machine’s own role", () => {
    expect(readConfig({ S3_BUCKET: 'files' }).s3).toEqual({
      bucket: 'files',
      region: 'us-east-1',
      endpoint: null,
      credentials: null,
    });
    const input = { S3_BUCKET: 'files', S3_REGION: 'eu-central-1', S3_ENDPOINT: 'http://minio:9000' };
    const keys = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'key' };
    expect(readConfig({ ...input, ...keys }).s3).toEqual({
      bucket: 'files',
      region: 'eu-central-1',
      endpoint: 'http://minio:9000',
      credentials: { accessKeyId: 'id', secretAccessKey: 'key' },
    });
  });

  it('reads the addresses of read replicas', () => {
    const input = { DATABASE_URL: 'postgres://db/x', DATABASE_REPLICA_URLS: 'postgres://one/x, postgresql://two/x' };
    expect(readConfig(input).databaseReplicas).toEqual({
      urls: ['postgres://one/x', 'postgresql://two/x'],
      maxLagMs: 100,
    });
    expect(readConfig({}).databaseReplicas.urls).toEqual([]);
  });

  it.each([
    [{ S3_ENDPOINT: 'http://minio:9000' }, 'S3_BUCKET must be set with the other S3 variables.'],
    [{ S3_BUCKET: 'files', S3_ACCESS_KEY_ID: 'id' }, 'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together.'],
    [
      { DATABASE_REPLICA_URLS: 'postgres://replica/x' },
      'DATABASE_URL must be set with DATABASE_REPLICA_URLS: the embedded database has no replicas.',
    ],
    [
      { DATABASE_URL: 'postgres://db/x', DATABASE_REPLICA_URLS: 'postgres://one/x,,mysql://two/x' },
      'DATABASE_REPLICA_URLS must be addresses, separated by commas, that begin with postgres:// or postgresql://.',
    ],
    [{ DATABASE_REPLICA_MAX_LAG_MS: '0' }, 'DATABASE_REPLICA_MAX_LAG_MS must be at least 1.'],
    [{ MAX_ATTACHMENT_MB: '0' }, 'MAX_ATTACHMENT_MB must be at least 1.'],
    [{ MAX_ATTACHMENT_MB: '2001' }, 'MAX_ATTACHMENT_MB must be at most 2000.'],
    [{ MAX_REPOSITORY_MB: '0' }, 'MAX_REPOSITORY_MB must be at least 1.'],
    [{ MAX_MIRRORS_MB: '-1' }, 'MAX_MIRRORS_MB must be 0 (no limit) or more.'],
    [{ MAX_TOOL_OUTPUT_MB: '-1' }, 'MAX_TOOL_OUTPUT_MB must be 0 (none) or more.'],
  ])('refuses %j', (input, message) => {
    expect(() => readConfig(input)).toThrow(message);
  });
});

describe('connections', () => {
  it('stay open longer than those of proxies, by default', () => {
    expect(readConfig({}).keepAliveMs).toBe(130_000);
    expect(readConfig({ KEEP_ALIVE_SECONDS: '620' }).keepAliveMs).toBe(620_000);
    expect(() => readConfig({ KEEP_ALIVE_SECONDS: '0' })).toThrow('KEEP_ALIVE_SECONDS must be at least 1.');
    const limits = { MAX_CONNECTIONS: '50', MAX_CONNECTIONS_PER_ADDRESS: '5' };
    expect(readConfig(limits)).toMatchObject({ maxConnections: 50, maxConnectionsPerAddress: 5 });
    expect(readConfig({ ...limits, TRUST_PROXY: '1' }).maxConnectionsPerAddress).toBeNull();
    expect(() => readConfig({ MAX_CONNECTIONS: '0' })).toThrow('MAX_CONNECTIONS must be at least 1.');
  });
});

describe('the GraphQL API', () => {
  it('allows introspection and any document by default', () => {
    expect(readConfig({})).toMatchObject({
      isIntrospectable: true,
      hasExplorer: true,
      trustedDocuments: { path: null, isOnly: false },
      graphqlCacheBytes: 64 * 1_048_576,
      maxSockets: 100,
    });
  });

  it.each([
    ['true', true],
    ['1', true],
    ['on', true],
    ['false', false],
    ['0', false],
    ['off', false],
    ['', true],
  ])('accepts %j as a switch', (input, isOn) => {
    expect(readConfig({ INTROSPECTION: input, EXPLORER: input })).toMatchObject({
      isIntrospectable: isOn,
      hasExplorer: isOn,
    });
  });

  it('accepts trusted documents by an absolute path', () => {
    const input = { TRUSTED_DOCUMENTS: 'some.json', TRUSTED_DOCUMENTS_ONLY: 'true', MAX_SOCKETS: '1' };
    const { trustedDocuments, maxSockets } = readConfig(input);
    expect(trustedDocuments).toEqual({ path: `${process.cwd()}/some.json`, isOnly: true });
    expect(maxSockets).toBe(1);
  });

  it.each([
    [{ INTROSPECTION: 'no' }, 'INTROSPECTION must be true or false.'],
    [{ MAX_SOCKETS: '0' }, 'MAX_SOCKETS must be at least 1.'],
    [{ TRUSTED_DOCUMENTS_ONLY: '1' }, 'TRUSTED_DOCUMENTS_ONLY requires TRUSTED_DOCUMENTS'],
  ])('refuses the options %j', (input, message) => {
    expect(() => readConfig(input)).toThrow(message);
  });
});

describe('PROVIDER_ALLOW_PRIVATE', () => {
  it.each([
    [{}, true],
    [{ HOST: 'localhost' }, true],
    [{ HOST: '::1', BASE_URL: 'http://[::1]:4000' }, true],
    [{ BASE_URL: 'http://localhost:4000' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '192.168.1.2' }, false],
    [{ HOST: '127.evil.example' }, false],
    [{ BASE_URL: 'https://switchyard.example.com' }, false],
    [{ TRUST_PROXY: '1' }, false],
    [{ TRUST_PROXY: 'loopback' }, false],
    [{ PROVIDER_ALLOW_PRIVATE: 'false' }, false],
    [{ HOST: '0.0.0.0', PROVIDER_ALLOW_PRIVATE: 'true' }, true],
  ])('with %j is %s', (environment, isPrivateProviderAllowed) => {
    expect(readConfig(environment)).toMatchObject({ isPrivateProviderAllowed });
  });
});
