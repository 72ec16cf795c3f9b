import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startApp, type TestApp } from './app.ts';
import { connect, type Following, follow } from './sockets.ts';
import { testDatabase } from './test-store.ts';

/** The processes that follow changes: the writing one, and on PostgreSQL also another one. */
export const readers: readonly string[] =
  testDatabase === 'postgres' ? ['the writing process', 'another process'] : ['the writing process'];

/** The app that writes, and the app in which changes are followed. */
export interface ReaderApps {
  readonly test: TestApp;
  readonly reader: TestApp;
}

/** Follows changes in {@link ReaderApps.reader}. */
export interface ChangeReader {
  /** The number of current followers. */
  active(): number;
  /** Resolves when there are this many followers. */
  waitForActive(count: number): Promise<void>;
  /** Starts a subscription; once it resolves, every later change is delivered. */
  following(token: string, query: string, variables?: Record<string, unknown>): Promise<Following<any>>;
}

/** Starts the apps of a `describe` for one of {@link readers}. Each test begins when the followers of the previous one have left. */
export function useReader(readerIs: string, assign: (apps: ReaderApps) => void): ChangeReader {
  let apps: ReaderApps;
  beforeAll(async () => {
    const test = await startApp();
    apps = { test, reader: readerIs === 'another process' ? await test.another() : test };
    assign(apps);
  });
  afterAll(async () => {
    if (apps.reader !== apps.test) await apps.reader.close();
    await apps.test.close();
  });
  const active = () => apps.reader.app.watches.active();
  const waitForActive = async (count: number) => {
    while (active() !== count) await new Promise((resolve) => setImmediate(resolve));
  };
  beforeEach(() => waitForActive(0));
  return {
    active,
    waitForActive,
    async following(token, query, variables = {}) {
      const before = active();
      const followed = follow(connect(apps.reader.url, token), query, variables);
      await waitForActive(before + 1);
      return followed;
    },
  };
}
