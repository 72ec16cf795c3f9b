import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, chromium as driver, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { startApp, type TestApp } from './app.ts';
import { chromium } from './browser.ts';
import { ensureConsole } from './built.ts';
import { type Halves, signIn } from './console.ts';

const require = createRequire(import.meta.url);

/** The reason why console tests cannot run in a browser here; null if they can. */
export const missing =
  chromium === null ? 'There is no Chromium here (apt-get install chromium-headless-shell).' : null;

// biome-ignore lint/suspicious/noConsole: tests that are skipped must say what they need.
if (missing !== null) console.warn(`Skipping the tests of the console in a browser. ${missing}`);
else await ensureConsole();

let launched: Promise<Browser> | null = null;

/** The part of vitest's worker that is used here. It is internal: without it, the browser ends some time after its process. */
interface VitestWorker {
  /** Waits for a function before the process ends, after its last file. */
  onCleanup?(close: () => Promise<void>): void;
}

async function launch(): Promise<Browser> {
  const browser = await driver.launch({
    executablePath: chromium as string,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const { __vitest_worker__: worker } = globalThis as { __vitest_worker__?: VitestWorker };
  worker?.onCleanup?.(() => browser.close());
  return browser;
}

/** The browser, one for all files of a process, because its start takes seconds. `close` closes its windows. */
export async function openBrowser(): Promise<Browser> {
  launched ??= launch();
  const browser = await launched;
  const close = async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  };
  return new Proxy(browser, {
    get(target, name) {
      const value: unknown = name === 'close' ? close : Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The service and the browser of a `describe`. */
export interface ConsoleTests {
  readonly test: TestApp;
  readonly browser: Browser;
  /** Opens a page of the console, signed in with `token` or as the administrator, until the end of the test. */
  open(at: string, token?: string): Promise<Window>;
}

/** Starts the service and a browser before the tests of a `describe`, and stops both after them. */
export function useConsole(settings: Parameters<typeof startApp>[0] = {}): ConsoleTests {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp(settings);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });
  return {
    get test() {
      return test;
    },
    get browser() {
      return browser;
    },
    async open(at, token = test.adminToken) {
      const window = await openSignedIn(browser, test, token, { at });
      onTestFinished(() => window.page.context().close());
      return window;
    },
  };
}

/** A window of the console. */
export interface Window {
  readonly page: Page;
  /** The errors that the page logged, except for responses to unauthenticated requests. */
  readonly consoleErrors: readonly string[];
  /** URLs of other hosts that it requested. */
  readonly foreign: readonly string[];
  /** Saves a screenshot as `name-desktop-light.png` in the directory TEST_SCREENSHOTS, if set. */
  picture(name: string): Promise<void>;
  /** Saves four screenshots of the current page: desktop and phone, in both themes. */
  pictures(name: string): Promise<void>;
  /** Runs a check in each theme; the theme of the current page changes without a reload. */
  inThemes(body: (theme: string) => Promise<void>): Promise<void>;
}

/** The supported window sizes. */
const shapes = {
  desktop: { width: 1_280, height: 800 },
  phone: { width: 390, height: 844 },
} as const;

const shapeOf = (width: number) =>
  Object.entries(shapes).find(([, shape]) => shape.width === width)?.[0] ?? String(width);

/** Options of a window. */
export interface WindowOptions {
  readonly width?: number;
  /** True for a window on a touch screen, whose pointer is coarse. */
  readonly hasTouch?: boolean;
  readonly theme?: 'light' | 'dark';
  /** The language of the browser; American English if missing. */
  readonly locale?: string;
}

/** The cookies and `localStorage` of a new window. */
type StorageState = Exclude<NonNullable<Parameters<Browser['newContext']>[0]>['storageState'], string | undefined>;

// Some frames later, elements that measure themselves have done so, and fields have their colours; on a busy machine, the browser may
// still change colours then.
const settle = (page: Page) =>
  page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const layout = () =>
      [...document.querySelectorAll('main, main [data-key], [role=dialog]')]
        .map((each) => each.getBoundingClientRect())
        .map(({ x, y, width, height }) => `${x} ${y} ${width} ${height}`)
        .join();
    let unchanged = 0;
    for (let before = layout(), frames = 0; unchanged < 3 && frames < 100; frames++) {
      await frame();
      const now = layout();
      unchanged = now === before ? unchanged + 1 : 0;
      before = now;
    }
    const transitions = document.getAnimations().filter((each) => each instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
  });

/** Opens a window in which nobody is signed in. */
export async function openWindow(
  browser: Browser,
  test: Pick<TestApp, 'url'>,
  options: WindowOptions & { readonly storageState?: StorageState } = {},
): Promise<Window> {
  const { width = shapes.desktop.width, hasTouch = false, storageState, locale } = options;
  let { theme = 'light' } = options;
  const context = await browser.newContext({
    baseURL: test.url,
    colorScheme: theme,
    reducedMotion: 'reduce',
    ...(storageState && { storageState }),
    ...(locale && { locale }),
    ...(hasTouch && { hasTouch, isMobile: true }),
    viewport: { width, height: width < 500 ? shapes.phone.height : shapes.desktop.height },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const consoleErrors: string[] = [];
  const foreign: string[] = [];
  page.on('pageerror', (error) => consoleErrors.push(error.message));
  page.on('console', (message) => {
    const isExpected = /status of 401|WebSocket connection|ERR_CONNECTION/.test(message.text());
    if (message.type() === 'error' && !isExpected) consoleErrors.push(message.text());
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== new URL(test.url).origin) foreign.push(request.url());
  });
  const directory = process.env.TEST_SCREENSHOTS;
  const window: Window = {
    page,
    consoleErrors,
    foreign,
    async picture(name) {
      if (!directory) return;
      await mkdir(directory, { recursive: true });
      const shape = shapeOf(page.viewportSize()?.width ?? width);
      await page.screenshot({ path: join(directory, `${name}-${shape}-${theme}.png`) });
    },
    async pictures(name) {
      if (!directory) return;
      const before = page.viewportSize();
      for (const shape of [shapes.phone, shapes.desktop]) {
        await page.setViewportSize(shape);
        await settle(page);
        await window.inThemes(() => window.picture(name));
      }
      if (before) await page.setViewportSize(before);
    },
    async inThemes(body) {
      for (theme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await page.waitForFunction((wanted) => matchMedia(`(prefers-color-scheme: ${wanted})`).matches, theme);
        // The other theme has the same page with other colours, and its check takes half a second of CPU.
        await page.evaluate((isDark) => Object.assign(globalThis, { checksColoursOnly: isDark }), theme === 'dark');
        await settle(page);
        await body(theme);
      }
    },
  };
  return window;
}

/**
 * Opens a window that is signed in with a token. `at`: the path of its first page; without it, the token is typed into the form,
 * which takes the time of another page.
 */
export async function openSignedIn(
  browser: Browser,
  test: Pick<TestApp, 'url'>,
  token: string,
  { at, ...options }: WindowOptions & { readonly at?: string } = {},
): Promise<Window> {
  if (at !== undefined) {
    const storageState = await signedInState(test, token);
    const window = await openWindow(browser, test, { ...options, storageState });
    await window.page.goto(at);
    await window.page.locator('#main').waitFor();
    return window;
  }
  const window = await openWindow(browser, test, options);
  await window.page.goto('/sessions');
  await window.page.getByLabel('Token').fill(token);
  await window.page.getByRole('button', { name: 'Sign in' }).click();
  await window.page.locator('#main').waitFor();
  return window;
}

async function signedInState(test: Pick<TestApp, 'url'>, token: string): Promise<StorageState> {
  const { cookie, [pageSecretHeader]: pageSecret } = await signIn(test, token);
  const { hostname, origin } = new URL(test.url);
  const at = cookie.indexOf('=');
  const attributes = {
    domain: hostname,
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: 'Strict',
  } as const;
  return {
    cookies: [{ name: cookie.slice(0, at), value: cookie.slice(at + 1), ...attributes }],
    origins: [{ origin, localStorage: [{ name: secretKey, value: pageSecret }] }],
  };
}

const pageSecretHeader = 'switchyard-page-secret';

/** The key of the page secret in `localStorage`. */
export const secretKey = 'switchyard:page-secret';

/** Returns both halves of the sign-in of a page's browser. */
export async function halvesOf(page: Page): Promise<Required<Halves>> {
  const [cookie] = await page.context().cookies();
  const secret = await page.evaluate((key) => localStorage.getItem(key), secretKey);
  return { cookie: `${cookie?.name}=${cookie?.value}`, [pageSecretHeader]: secret ?? '' };
}

/** Signs a page's browser in like the sign-in page, but notifies no other tab. */
export async function signInAlone(page: Page, token: string): Promise<void> {
  const status = await page.evaluate(
    async ([key, signInToken]) => {
      const response = await fetch('/console/session', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'switchyard-client': 'console',
          'switchyard-page-secret': localStorage.getItem(key) ?? '',
        },
        body: JSON.stringify({ token: signInToken }),
      });
      localStorage.setItem(key, (await response.json()).pageSecret);
      return response.status;
    },
    [secretKey, token] as const,
  );
  if (status !== 200) throw new Error(`Signing in answered ${status}.`);
}

/** Delays messages that a page sends on its sockets, from its next load until the returned function is called. */
export async function holdSockets(page: Page): Promise<() => void> {
  let resume: () => void = () => undefined;
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  await page.routeWebSocket(/graphql/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage(async (message) => {
      await resumed;
      server.send(message);
    });
  });
  return resume;
}

/** Chooses an option of a combobox by typing it. */
export async function pick(page: Page, field: string, choice: string): Promise<void> {
  await page.getByRole('combobox', { name: field, exact: true }).click();
  await page.keyboard.type(choice);
  const named = { has: page.getByText(choice, { exact: true }) };
  await page.getByRole('listbox').getByRole('option').filter(named).click();
}

/** Returns the accessibility violations that axe finds: serious and critical ones of WCAG 2 A and AA, and content outside of landmarks. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await settle(page);
  // Not with a script element: the page's policy would block it.
  const isThere = await page.evaluate(() => 'axe' in globalThis);
  if (!isThere) await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: any[] }> } };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'];
    const { checksColoursOnly = false } = globalThis as { checksColoursOnly?: boolean };
    const runOnly = checksColoursOnly ? ['color-contrast', 'link-in-text-block'] : tags;
    const { violations } = await axe.run({ runOnly, resultTypes: ['violations'] });
    return violations
      .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'region')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }: { html: string }) => html.slice(0, 160)).join(' | ')}`);
  });
}

/** Returns true if the memory of a page's script contains a text. */
export async function heapHas(page: Page, text: string): Promise<boolean> {
  const session = await page.context().newCDPSession(page);
  let snapshot = '';
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => {
    snapshot += chunk;
  });
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  await session.detach();
  return snapshot.includes(text);
}

/** The log positions of the messages that the page currently renders. */
export const shownSeqs = (page: Page) =>
  page.locator('[data-seq]').evaluateAll((all) => all.map((each) => Number(each.getAttribute('data-seq'))));
