import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { copyDatabase } from '../support/postgres-copies.ts';
import { makeUser } from '../support/principals.ts';
import { bootstrapToken, freePort, startServer } from '../support/server.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const banner = (page: Page) => page.getByRole('region', { name: 'Maintenance mode' });
const endButton = (page: Page) => banner(page).getByRole('button', { name: 'End maintenance mode' });

/** The overflow of the document beyond the window in pixels: [to the right, downwards]. */
const overflow = (page: Page) =>
  page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return [scrollWidth - innerWidth, scrollHeight - innerHeight];
  });

describe.skipIf(missing !== null)('the banner of maintenance mode', { timeout: 240_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it.skipIf(testDatabase !== 'postgres')(
    'is on every page of a copied database until a user ends the mode',
    async () => {
      const original = await startApp();
      onTestFinished(() => original.close());
      const id = await createSession(original, { prompt: 'say hello', title: 'Waits for its copy' });
      const member = await makeUser(original);
      const databaseUrl = await copyDatabase(original.databaseUrl as string, process.env.TEST_POSTGRES_URL as string);
      const copy = await original.another({ roles: ['api', 'worker'], databaseUrl });
      onTestFinished(() => copy.close());

      const reader = await openSignedIn(browser, copy, member.token);
      await banner(reader.page).getByText('This database is a copy').waitFor();
      expect(await endButton(reader.page).count()).toBe(0);

      const window = await openSignedIn(browser, copy, copy.adminToken);
      const { page } = window;
      await endButton(page).waitFor();
      expect(await banner(page).getByRole('status').textContent()).toContain(
        'No sessions or automations run, and no webhooks are sent.',
      );
      await window.pictures('maintenance');
      await page.goto(`/sessions/${id}`);
      await page.getByText('Waiting for a worker.').waitFor();
      await endButton(page).waitFor();
      await window.pictures('maintenance-session');
      for (const width of [390, 1_280]) {
        await page.setViewportSize({ width, height: 800 });
        await window.inThemes(async (theme) => expect(await seriousFindings(page), `${width}, ${theme}`).toEqual([]));
        await expect.poll(() => overflow(page), { message: `${width} wide` }).toEqual([0, 0]);
      }

      await endButton(page).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('webhooks are sent twice').waitFor();
      await window.pictures('maintenance-end');
      expect(await seriousFindings(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await endButton(page).click();
      await dialog.getByRole('button', { name: 'End maintenance mode' }).click();
      await page.getByText('Maintenance mode ended.').waitFor();
      expect(await banner(page).count()).toBe(0);
      await waitUntilEnded(copy, id);
      await page.getByText('Finished', { exact: true }).waitFor();
      // Another user's page reads again when the user returns to it.
      await reader.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      await banner(reader.page).waitFor({ state: 'hidden' });
      expect([...window.consoleErrors, ...reader.consoleErrors]).toEqual([]);
      await page.context().close();
      await reader.page.context().close();
    },
  );

  it('appears and disappears on an open page with restarts of the service, if the operator set the mode', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-console-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const env = { DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'error' };
    let server = await startServer(env);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, server, bootstrapToken);
    // Read after the page has loaded and its socket is open.
    const isRead = page.waitForResponse(
      (answer) => answer.request().postData()?.includes('maintenanceBanner') ?? false,
    );
    await page.goto('/sessions');
    await isRead;
    await page.getByText('No sessions yet').waitFor();
    expect(await banner(page).count()).toBe(0);
    await server.stop();
    server = await startServer({ ...env, MAINTENANCE: 'true' });
    await banner(page).getByText('MAINTENANCE=true').waitFor({ timeout: 60_000 });
    // No request can end it.
    expect(await endButton(page).count()).toBe(0);
    await server.stop();
    server = await startServer(env);
    await banner(page).waitFor({ state: 'hidden', timeout: 60_000 });
    expect(pageErrors).toEqual([]);
    await page.context().close();
    await server.stop();
  });
});
