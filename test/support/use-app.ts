import { afterAll, beforeAll } from 'vitest';
import { startApp, type TestApp } from './app.ts';

/**
 * Starts an app before the tests of a file, and closes it after them. Its members exist in tests, in hooks and in functions
 * that these call.
 */
export function useApp(...options: Parameters<typeof startApp>): TestApp {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(...options);
  });
  afterAll(() => app.close());
  return new Proxy({} as TestApp, { get: (_target, name) => Reflect.get(app, name) });
}
