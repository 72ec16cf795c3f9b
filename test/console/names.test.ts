import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

/** An invisible character that reverses the text after it. */
const override = '\u202e';
const unseen = /[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

describe.skipIf(missing !== null)('names in the console', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  it('cannot reverse or hide text: invisible characters are shown as their numbers', async () => {
    const { organizationId, token } = await makeOrganization(test, `Names ${override}of`);
    const title = `Read ${override}gnp.exe`;
    const tags = [`a${override}b`, 'ad\u200bmin', 'שלום'];
    const id = await createSession(test, { organizationId, prompt: 'Wait', title, tags }, token);
    await runMutation(
      test,
      'createPlaybook',
      'playbook { id }',
      { scope: { organizationId }, title: `Book ${override}of`, body: 'One' },
      token,
    );
    const { page, consoleErrors: pageErrors, picture } = await openSignedIn(browser, test, token);
    const text = () => page.evaluate(() => `${document.title}\n${document.body.textContent}`);
    const link = page.getByRole('link', { name: 'Read [U+202E]gnp.exe' });
    await link.waitFor();
    await page.getByText('ad[U+200B]min').waitFor();
    expect(await text()).not.toMatch(unseen);
    // Beside a right-to-left name, the other names keep their positions.
    const row = page.getByRole('listitem').filter({ has: link });
    const lefts = await row.locator('.tag').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().left));
    expect(lefts).toEqual(lefts.toSorted((a, b) => a - b));
    for (const part of ['a', '.tag', 'p > span']) {
      const isolation = await row
        .locator(part)
        .first()
        .evaluate((each) => getComputedStyle(each).unicodeBidi);
      expect(isolation, part).toBe('isolate');
    }
    await picture('names');
    await page.goto(`/sessions/${id}`);
    await page.getByRole('heading', { name: 'Read [U+202E]gnp.exe' }).waitFor();
    expect(await text()).not.toMatch(unseen);
    await page.goto('/manage/playbooks');
    await page.getByRole('link', { name: 'Book [U+202E]of' }).waitFor();
    await page.getByRole('button', { name: 'Delete Book [U+202E]of' }).click();
    await page.getByRole('heading', { name: 'Delete Book [U+202E]of?' }).waitFor();
    expect(await text()).not.toMatch(unseen);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Deleted Book [U+202E]of.').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('with scripts and emoji are shown unchanged', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Scripts');
    const title = 'می‌خواهم 👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 Ünïcode – “x”';
    await createSession(test, { organizationId, prompt: 'Wait', title }, token);
    const { page } = await openSignedIn(browser, test, token);
    await page.locator('.sessions a').waitFor();
    expect(await page.locator('.sessions a').textContent()).toBe(title);
    await page.context().close();
  });
});
