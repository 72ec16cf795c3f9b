import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startApp, type TestApp } from './app.ts';
import { connect, type Following, follow } from './sockets.ts';
import { testDatabase } from './test-store.ts';

/** The processes in which changes are followed: on PostgreSQL also another one than the one that writes. */
export const readers: readonly string[] =
  testDatabase === 'postgres' ? ['the writing process', 'another process'] : ['the writing process'];

/** The process that writes, and the one in which changes are followed. */
export interface ReaderApps {
  readonly test: TestApp;
  readonly reader: TestApp;
}

/** Follows changes in the process of {@link ReaderApps.reader}. */
export interface ChangeReader {
  /** The number of those that follow. */
  active(): number;
  /** Resolves when so many follow. */
  waitForActive(count: number): Promise<void>;
  /** Starts a subscription; what changes after it resolves is delivered. */
  following(token: string, query: string, variables?: Record<string, unknown>): Promise<Following<any>>;
}

/** Starts the apps of a `describe` for one of {@link readers}. Each test begins when those that followed in the one before have left. */
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
