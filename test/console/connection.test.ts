import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { graphql } from '../support/app.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { bootstrapToken, freePort, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the console while the service is unavailable', { timeout: 240_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('says so on every page, collects no errors, and recovers by itself and on request', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-console-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const env = { DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'error', LEASE_SECONDS: '2' };
    let server = await startServer(env);
    const { page, picture } = await openSignedIn(browser, server, bootstrapToken);
    onTestFinished(() => page.context().close());
    const organizationId = await firstOrganizationId(server, bootstrapToken);
    const { data } = await graphql(
      server,
      bootstrapToken,
      `mutation { createSession(input: {organizationId: "${organizationId}", prompt: "say begun\\nsleep 600", title: "Long"}) { session { sessionId } } }`,
    );
    const banner = page.getByRole('region', { name: 'Connection' });
    const lost = banner.getByText('Connection lost. The data on this page may be out of date.');
    // A page without a subscription asks by itself.
    await page.goto('/manage/knowledge');
    await page.getByRole('heading', { name: 'Knowledge', exact: true }).waitFor();
    await server.kill();
    await lost.waitFor();
    // So does one whose code cannot be loaded.
    await page.getByRole('link', { name: 'Playbooks' }).click();
    await lost.waitFor();
    server = await startServer(env);
    await page.getByRole('heading', { name: 'Playbooks', exact: true }).waitFor();
    await banner.waitFor({ state: 'detached' });

    await page.goto(`/sessions/${data.createSession.session.sessionId.replace('devin-', '')}`);
    await page.getByText('begun', { exact: true }).first().waitFor();
    const pulse = () => page.locator('.now i').evaluate((dot) => getComputedStyle(dot).animationName);
    await page.locator('.now i').waitFor();
    expect(await pulse()).toBe('pulse');
    await server.kill();
    await lost.waitFor();
    await page.locator('.now i').waitFor({ state: 'detached' });
    await picture('connection-lost');
    const message = page.getByLabel('Message to the agent');
    await message.fill('say later');
    const toasts = page.getByRole('region', { name: 'Notifications' }).getByText('Can’t reach the service.');
    for (let attempt = 0; attempt < 3; attempt++) {
      const isRefused = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/graphql'));
      await message.press('Enter');
      await isRefused;
      await page.getByRole('button', { name: 'Send', exact: true }).and(page.locator(':enabled')).waitFor();
    }
    expect(await toasts.count()).toBe(1);
    const isRequested = page.waitForRequest((request) => request.url().endsWith('/healthz'));
    await banner.getByRole('button', { name: 'Retry now' }).click();
    await isRequested;
    server = await startServer(env);
    await banner.waitFor({ state: 'detached' });
    await toasts.waitFor({ state: 'detached' });
    const unconfirmed = page.getByText('We couldn’t confirm that this message arrived.');
    await unconfirmed.waitFor();
    await message.press('Enter');
    await page.getByText('say later', { exact: true }).first().waitFor();

    // A form says so too, and that it can be sent again.
    await page.goto('/');
    const prompt = page.getByPlaceholder('Describe a task');
    await prompt.fill('say from the form');
    await server.kill();
    await lost.waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.locator('.problem').getByText('Can’t reach the service.').waitFor();
    server = await startServer(env);
    await page.locator('.problem').getByText('The connection is back. Try again.').waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('from the form', { exact: true }).first().waitFor();
    await server.stop();
  });

  it('keeps the frame of a session that was opened without a network, and loads it when the network is back', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-console-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const server = await startServer({ DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'error' });
    const organizationId = await firstOrganizationId(server, bootstrapToken);
    const start = async (title: string) => {
      const { data } = await graphql(
        server,
        bootstrapToken,
        `mutation { createSession(input: {organizationId: "${organizationId}", prompt: "say ${title} begun", title: "${title}"}) { session { sessionId } } }`,
      );
      return data.createSession.session.sessionId.replace('devin-', '') as string;
    };
    const [first] = [await start('First'), await start('Second')];
    const { page, consoleErrors } = await openSignedIn(browser, server, bootstrapToken, { at: `/sessions/${first}` });
    const context = page.context();
    onTestFinished(() => context.close());
    await page.getByText('First begun', { exact: true }).first().waitFor();
    const inbox = page.getByRole('region', { name: 'Inbox' });
    await inbox.getByRole('link', { name: 'Second' }).waitFor();
    await context.setOffline(true);
    const banner = page.getByRole('region', { name: 'Connection' });
    await banner.waitFor();
    await inbox.getByRole('link', { name: 'Second' }).click();
    await page.getByText('This loads when the connection is back.').waitFor();
    // Later than the first retry.
    for (let count = 0; count < 6; count++) {
      await page.waitForEvent('requestfailed', (request) => request.url().endsWith('/healthz'));
    }
    expect(await page.getByText('Couldn’t load this').count()).toBe(0);
    await page.getByText('This loads when the connection is back.').waitFor();
    await banner.waitFor();
    await inbox.getByRole('link', { name: 'First' }).waitFor();
    await context.setOffline(false);
    await page.getByText('Second begun', { exact: true }).first().waitFor();
    await banner.waitFor({ state: 'detached' });
    expect(consoleErrors.filter((text) => !/ERR_INTERNET_DISCONNECTED|UnreachableError/.test(text))).toEqual([]);
  });

  it('says at once that the browser is offline, even if the page does nothing', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-console-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const server = await startServer({ DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'error' });
    const { page } = await openSignedIn(browser, server, bootstrapToken, { at: '/usage' });
    const context = page.context();
    onTestFinished(() => context.close());
    await page.clock.install();
    await page.goto('/sessions');
    await page.getByText('No sessions yet').first().waitFor();
    // No timer runs: neither the pings of the socket nor the page's own checks.
    await page.clock.pauseAt(Date.now() + 60_000);
    await context.setOffline(true);
    const banner = page.getByRole('region', { name: 'Connection' });
    await banner.waitFor();
    // A browser that claims to be online is not believed.
    const isRefused = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/healthz'));
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await isRefused;
    await banner.waitFor();
    await page.clock.resume();
    await context.setOffline(false);
    await banner.waitFor({ state: 'detached' });
  });

  it('loads a page that was opened without a network, with its stylesheets, when the network is back', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-console-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const server = await startServer({ DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'error' });
    const { page } = await openSignedIn(browser, server, bootstrapToken, { at: '/sessions' });
    const context = page.context();
    onTestFinished(() => context.close());
    const stylesheets = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].map(({ href, sheet }) => ({
          href,
          // Of a link that failed to load, Chromium has an empty sheet.
          isLoaded: (sheet?.cssRules.length ?? 0) > 0,
        })),
      );
    await context.setOffline(true);
    const isRefused = page.waitForEvent('requestfailed', (request) => /\/usage-page-[^/]*\.css$/.test(request.url()));
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('region', { name: 'Connection' }).waitFor();
    await isRefused;
    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    const after = await stylesheets();
    expect(after.filter(({ isLoaded }) => !isLoaded)).toEqual([]);
    expect(after.filter(({ href }) => href.includes('/usage-page-'))).toHaveLength(1);
  });
});
