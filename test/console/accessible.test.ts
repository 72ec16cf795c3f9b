import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import {
  missing,
  openBrowser,
  openSignedIn,
  openWindow,
  seriousFindings,
  type Window,
} from '../support/console-browser.ts';
import { createSession, say } from '../support/sessions.ts';

/** Sessions in each state: title, status, detail, ACUs, tags. */
const listed = [
  ['Write the notes of the release', 'exit', null, 1.42, 'docs'],
  ['Find out why the nightly build fails since Monday, and fix it', 'error', null, 0.31, 'build', 'urgent'],
  ['Move the mail to the new address', 'suspended', 'inactivity', 0.77],
  ['Look through the open pull requests', 'exit', null, 3.05, 'review'],
  ['Which colour should the button have?', 'running', 'waiting_for_user', 0.2, 'frontend'],
  ['Make the search quick', 'running', 'working', 2.68, 'backend', 'search'],
] as const;

describe.skipIf(missing !== null)('each page of the console', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  let id: string;
  beforeAll(async () => {
    test = await startApp();
    browser = await openBrowser();
    for (const [title, status, detail, acus, ...tags] of listed) {
      const made = await createSession(test, { prompt: title, title, tags });
      await test.app.services.store.execute(
        'update session set status = $2, status_detail = $3, acus_consumed = $4, ended_by = $5 where id = $1',
        [made.replace(/^[a-z]+-/, ''), status, detail, acus, status === 'exit' ? 'finished' : null],
      );
    }
    id = await createSession(test, { prompt: 'Look at **this**', title: 'To be read', tags: ['one'] });
    await say(
      test,
      id,
      'A [link](https://example.com), `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] read\n- [ ] write',
    );
    await test.app.services.store.execute('update session set structured_output = $2 where id = $1', [
      id.replace(/^[a-z]+-/, ''),
      JSON.stringify({ report: { failed: ['a', 'b'] } }),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  /** The pages, each with the steps that bring it to the state to check. */
  const pages: Readonly<Record<string, (window: Window) => Promise<unknown>>> = {
    list: async ({ page }) => {
      await page.goto('/sessions');
      await page.getByRole('link', { name: 'To be read' }).waitFor();
    },
    'new-session': async ({ page }) => {
      await page.goto('/sessions');
      await page.getByRole('button', { name: 'New session' }).click();
      await page.getByLabel('Prompt').waitFor();
    },
    palette: async ({ page }) => {
      await page.goto('/sessions');
      await page.getByRole('link', { name: 'To be read' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByText('To be read').waitFor();
    },
    'nothing-fits': async ({ page }) => {
      await page.goto('/sessions?q=nothing-is-called-that');
      await page.getByText('No matching sessions').waitFor();
    },
    session: async ({ page }) => {
      await page.goto(`/sessions/${id}`);
      await page.getByRole('article').nth(1).waitFor();
    },
    'structured-output': async ({ page }) => {
      await page.goto(`/sessions/${id}?tab=output`);
      await page.locator('.json').waitFor();
      const heights = await page
        .locator('.json summary:visible')
        .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
      expect(
        heights.filter((height) => height < 24),
        'structured output',
      ).toEqual([]);
    },
    secrets: async ({ page }) => {
      await page.goto('/manage/secrets');
      await page.getByRole('heading', { name: 'Secrets', exact: true }).waitFor();
    },
    'new-secret': async ({ page }) => {
      await page.getByRole('button', { name: 'New secret' }).first().click();
      await page.getByLabel('Value', { exact: true }).waitFor();
    },
    'no-such-page': async ({ page }) => {
      await page.goto('/manage/nothing-of-that-name');
      await page.getByText('Page not found').waitFor();
    },
  };

  it('leads from a guessed path to its page', async () => {
    const { page } = await openSignedIn(browser, test, test.adminToken);
    for (const [guessed, path] of [
      ['/repositories', '/manage/repositories'],
      ['/settings', '/manage/organization'],
    ] as const) {
      await page.goto(guessed);
      await expect.poll(() => new URL(page.url()).pathname).toBe(path);
    }
    await page.context().close();
  });

  for (const width of [1_280, 390]) {
    it(`has no accessibility violation, ${width} wide, in both themes`, async () => {
      const window = await openSignedIn(browser, test, test.adminToken, { width });
      for (const [name, open] of Object.entries(pages)) {
        await open(window);
        await window.inThemes(async (theme) => {
          await window.picture(name);
          expect(await seriousFindings(window.page), `${name}, ${theme}`).toEqual([]);
        });
        const overflow = await window.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect(overflow, `${name} is wider than the window`).toBeLessThanOrEqual(0);
      }
      expect(window.consoleErrors).toEqual([]);
      expect(window.foreign).toEqual([]);
      const signedOutWindow = await openWindow(browser, test, { width });
      await signedOutWindow.page.goto('/');
      await signedOutWindow.page.getByLabel('Token').waitFor();
      await signedOutWindow.inThemes(async (theme) => {
        await signedOutWindow.picture('sign-in');
        expect(await seriousFindings(signedOutWindow.page), `sign-in, ${theme}`).toEqual([]);
      });
      await window.page.context().close();
      await signedOutWindow.page.context().close();
    });
  }
});
