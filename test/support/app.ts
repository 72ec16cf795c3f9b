import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { requestErrorCodes } from '../../src/api/graphql/error-codes.ts';
import { type App, type AppParts, createApp } from '../../src/app.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import type { FirstStart } from '../../src/domain/installation/bootstrap.ts';
import { exchangeJson } from './http-client.ts';
import { notifyKeyChanges } from './key-changes.ts';
import { requireNoSecrets } from './leaks.ts';
import { validateAgainstOpenApi } from './openapi-validation.ts';
import { demoAgentOnly } from './profiles.ts';
import { openTestStore, type TestStore } from './test-store.ts';

/** A running Switchyard in this process, with its own database. */
export interface TestApp {
  readonly app: App;
  readonly url: string;
  /** The administrator's `cog_` token. */
  readonly adminToken: string;
  /** The first user's `apk_user_` key. */
  readonly v1Key: string;
  /** Unprefixed. */
  readonly organizationId: string;
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** Starts a second app on the same database, like another process, with its own data directory. */
  another(overrides?: Partial<Config>, parts?: Pick<AppParts, 'openDrivers' | 'log'>): Promise<TestApp>;
  close(): Promise<void>;
}

/** Nothing is logged in tests unless TEST_LOG is set. */
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const say = (fields: object, message: string) => process.stderr.write(`${message} ${inspect(fields)}\n`);
const log = process.env.TEST_LOG ? { ...quiet, warn: say, error: say } : quiet;

/**
 * Starts an app. By default it has no worker, so sessions stay `new` and the test writes their logs; with
 * `roles: ['api', 'worker']` the demo agent runs as a real child process.
 */
export const startApp = async (overrides: Partial<Config> = {}, parts: TestParts = {}): Promise<TestApp> =>
  startAppOn(await openTestStore(), overrides, parts);

type TestParts = Pick<AppParts, 'requestTimes' | 'openDrivers' | 'packageOf' | 'log' | 'checkpointClock'>;

/** {@link startApp} on a database, which closing the app closes. */
export async function startAppOn(
  test: TestStore,
  overrides: Partial<Config> = {},
  parts: TestParts = {},
): Promise<TestApp> {
  // A restored database begins in maintenance mode.
  const config = testConfig(test.dataDir, test.databaseUrl, {
    ...(test.firstStart && { maintenance: false }),
    ...overrides,
  });
  const app = await createApp(config, { store: test.store, log, ...parts });
  const firstStart = app.installation.firstStart ?? test.firstStart;
  if (!firstStart) throw new Error('The database of a test was not new.');
  return wrap(app, test, firstStart, () => test.close());
}

function testConfig(dataDir: string, databaseUrl: string | null, overrides: Partial<Config>): Config {
  const env = readConfig({
    PATH: process.env.PATH,
    DATA_DIR: dataDir,
    PORT: '0',
    ROLES: 'api',
    AGENTS_CONFIG: demoAgentOnly,
  });
  // A test file sends more requests per minute than any client; tests of the limits set their own.
  const unlimited = { rateLimitRest: 0, rateLimitGraphql: 0, rateLimitLogin: 0, rateLimitProvider: 0 };
  const secretKey = 'a secret key that is only for the tests';
  return { ...env, databaseUrl, secretKey, ...unlimited, ...overrides };
}

type Shared = Pick<TestApp, 'databaseUrl' | 'dataDir'>;

async function wrap(
  app: App,
  shared: Shared,
  firstStart: FirstStart,
  cleanUp: () => Promise<unknown>,
): Promise<TestApp> {
  const described = validateAgainstOpenApi(app);
  notifyKeyChanges(app);
  const { url } = await app.start();
  return {
    app,
    url,
    ...firstStart,
    databaseUrl: shared.databaseUrl,
    dataDir: shared.dataDir,
    async another(overrides = {}, parts = {}) {
      const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-test-'));
      const other = await createApp(testConfig(dataDir, shared.databaseUrl, overrides), { log, ...parts });
      return wrap(other, { ...shared, dataDir }, firstStart, () => rm(dataDir, { recursive: true, force: true }));
    },
    async close() {
      // No test may store a token or the value of a secret.
      const leaked = await requireNoSecrets(app.services.store).then(
        () => null,
        (error: unknown) => error,
      );
      await app.stop();
      await cleanUp();
      if (leaked !== null) throw leaked;
      await described.requireNone();
    },
  };
}

/** Sends and receives JSON. `token` null: no Authorization header. */
export async function call(
  test: Pick<TestApp, 'url'>,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: any; headers: Headers }> {
  const all = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers };
  const { status, text, headers: received } = await exchangeJson(test.url + path, method, all, body);
  const answer = text === '' ? null : JSON.parse(text);
  if (path.startsWith('/graphql')) requireKnownCodes(answer);
  return { status, body: answer, headers: received };
}

// In every test, each error code of a response must be in the schema.
function requireKnownCodes(answer: any): void {
  const codes: unknown[] = (answer?.errors ?? []).map((error: any) => error.extensions?.code);
  const strange = codes.filter((code) => typeof code !== 'string' || !(code in requestErrorCodes));
  if (strange.length > 0) throw new Error(`Not in RequestErrorCode: ${JSON.stringify(answer.errors)}`);
}

/** Runs a GraphQL document over POST. */
export async function graphql(
  test: Pick<TestApp, 'url'>,
  token: string | null,
  query: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<{ status: number; data: any; errors: any[] | undefined }> {
  const { status, body } = await call(test, token, 'POST', '/graphql', { query, variables }, headers);
  return { status, data: body?.data, errors: body?.errors };
}
