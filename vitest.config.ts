import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { builtPrograms } from './test/support/built-programs.ts';
import { ClosingLine } from './test/support/closing-line.ts';
import { FailedFiles } from './test/support/failed-files.ts';
import { filesWithoutGit } from './test/support/find-git.ts';
import { makeMemoryDirectory } from './test/support/memory-directory.ts';
import { nodeOptions } from './test/support/node-options.ts';
import { findPostgresBinaries, howToGetPostgres } from './test/support/postgres-cluster.ts';
import { SlowFilesFirst } from './test/support/slow-files-first.ts';

/** Rules without an app, a store or a build: see test/rules/unit-tests.test.ts. */
const unit = ['test/unit/**/*.test.ts'];

/** Other tests that open no store: they run once. All others run on both databases. */
const storeless = ['rules', 'agents', 'automations', 'checkpoints', 'forges', 'http'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

// For this process, the processes of test files, and what they start.
const memoryDirectory = process.env.TMPDIR ? null : makeMemoryDirectory();
if (memoryDirectory !== null) process.env.TMPDIR = memoryDirectory;

const excluded = [...configDefaults.exclude, ...filesWithoutGit()];

const everywhere = {
  exclude: excluded,
  testTimeout: 180_000,
  hookTimeout: 240_000,
  // As long as Playwright waits: on a busy machine the second that is usual says nothing.
  expect: { poll: { timeout: 60_000 } },
  pool: 'forks' as const,
  globalSetup: ['test/support/global-setup-built.ts'],
  execArgv: [...nodeOptions],
};

/**
 * Loading the service costs more than most files' tests, so a process loads it once for all its files. Only if all files run on
 * PGlite, each has its own process, so that the database's memory goes with it.
 */
const sharing = { isolate: false };

const onStore = {
  ...everywhere,
  include: ['test/**/*.test.ts'],
  exclude: [...excluded, ...unit, ...storeless],
};

/**
 * Tests of the database itself, its notifications and its files, which always run on both databases. All others test
 * statements that both databases run alike. They run on PostgreSQL, which is faster, and on both with
 * TEST_EVERYWHERE=1. Without a PostgreSQL, everything runs on PGlite.
 */
const onBoth = [
  'test/store/**/*.test.ts',
  'test/realtime/**/*.test.ts',
  'test/graphql/{subscriptions-websocket,session-live,session-changes,made-once}.test.ts',
  'test/rest/v1-sessions-list.test.ts',
  'test/system/{copied-data-dirs,restarts,rows-read,key-rotation}.test.ts',
];

const onPostgres = {
  ...onStore,
  ...sharing,
  name: 'postgres',
  env: { TEST_DATABASE: 'postgres' },
  globalSetup: [
    ...everywhere.globalSetup,
    'test/support/global-setup-postgres.ts',
    ...(process.env.TEST_RESTORED ? ['test/support/global-setup-restored.ts'] : []),
  ],
};

const havePostgres = Boolean(process.env.TEST_POSTGRES_URL) || findPostgresBinaries() !== null;
if (!havePostgres) {
  const said = `There is no PostgreSQL here: ${howToGetPostgres}.`;
  // On CI a silently missing half of the suite would look like success.
  if (process.env.CI) throw new Error(said);
  console.warn(`Skipping the tests on PostgreSQL. ${said}`);
}

const isShort = havePostgres && !process.env.TEST_EVERYWHERE;
const onPglite = { ...onStore, name: 'pglite', ...(isShort ? { ...sharing, include: onBoth } : {}) };

// Vite would take graphql's "module" build, while the libraries, which Node loads itself, take its "main": two copies,
// whose errors and schemas do not know each other.
const resolve = { alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }] };

const ours = { resolve, plugins: [builtPrograms] };

export default defineConfig({
  test: {
    maxWorkers: 4,
    sequence: { sequencer: SlowFilesFirst },
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest-modules' },
    reporters: ['default', new FailedFiles(), new ClosingLine()],
    projects: [
      { resolve, test: { ...everywhere, ...sharing, globalSetup: [], name: 'unit', include: unit } },
      { ...ours, test: { ...everywhere, ...sharing, name: 'storeless', include: storeless } },
      { ...ours, test: { ...onPglite, env: { TEST_DATABASE: 'pglite' } } },
      ...(havePostgres ? [{ ...ours, test: onPostgres }] : []),
    ],
  },
});
