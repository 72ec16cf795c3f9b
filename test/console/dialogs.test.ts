import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

/** The focused element, by its name or its text. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement } = document;
    return (
      activeElement?.getAttribute('aria-label') ?? activeElement?.getAttribute('name') ?? activeElement?.textContent
    );
  });

describe.skipIf(missing !== null)('dialogs, keys and focus', { timeout: 240_000 }, () => {
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

  it('a dialog focuses its first field, submits its form by Enter, and restores the focus', async () => {
    const { token } = await makeOrganization(test, 'Focus');
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token);
    await expect.poll(() => focused(page)).toBe('Sessions');
    await page.goto('/manage/secrets');
    const open = page.getByRole('button', { name: 'New secret' }).first();
    await open.click();
    await expect.poll(() => focused(page)).toBe('key');
    await page.keyboard.type('A_NAME');
    await page.getByRole('dialog').getByLabel('Value', { exact: true }).fill('c4n4ry-of-a-dialog');
    await page.getByRole('dialog').getByLabel('Note').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('A_NAME').first().waitFor();
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY');
    await open.click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('New secret');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('asks before it discards input', async () => {
    const { token } = await makeOrganization(test, 'Written');
    const { page, picture } = await openSignedIn(browser, test, token);
    await page.keyboard.press('n');
    const prompt = page.getByLabel('Prompt');
    await prompt.fill('A long thought');
    // Pressed more than once: browsers let a page prevent the close only once.
    for (let n = 0; n < 2; n++) {
      await page.keyboard.press('Escape');
      await page.getByRole('heading', { name: 'Discard your changes?' }).waitFor();
      await picture('dialog-asks');
      await page.getByRole('button', { name: 'Keep editing' }).click();
    }
    expect(await prompt.inputValue()).toBe('A long thought');
    await page.mouse.click(5, 5);
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // Nothing was entered, so there is no question.
    await page.keyboard.press('n');
    await prompt.waitFor();
    expect(await prompt.inputValue()).toBe('');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('new');
    await page.context().close();
  });

  it('shows a message in front of the dialog, where it can be pressed', async () => {
    const { page } = await openSignedIn(browser, test, test.adminToken, { at: '/manage/service-users' });
    await page
      .getByRole('button', { name: /^Create organization key/ })
      .first()
      .click();
    await page.getByRole('dialog').getByLabel('Name').fill('To be copied');
    await page.keyboard.press('Enter');
    await page.context().grantPermissions(['clipboard-write']);
    await page.getByRole('button', { name: /^Copy/ }).click();
    const message = page.getByRole('region', { name: 'Notifications' });
    await message.getByText('copied.').waitFor();
    // Elements behind a dialog cannot be clicked.
    await message.getByRole('button', { name: 'Close' }).click();
    await message.getByText('copied.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('a value that is shown once is closed by its own button only', async () => {
    const { page, picture } = await openSignedIn(browser, test, test.adminToken, { at: '/manage/service-users' });
    await page
      .getByRole('button', { name: /^Create organization key/ })
      .first()
      .click();
    await page.getByRole('dialog').getByLabel('Name').fill('Kept by hand');
    await page.keyboard.press('Enter');
    const closeButton = page.getByRole('button', { name: 'I’ve saved it' });
    await closeButton.waitFor();
    await picture('dialog-once');
    for (let n = 0; n < 3; n++) await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await closeButton.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('keys search, start a session and list themselves; the list remembers its position', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Keys');
    for (const title of ['one', 'two', 'three']) await createSession(test, { organizationId, title }, token);
    const { page, consoleErrors: pageErrors, picture } = await openSignedIn(browser, test, token);
    await page.getByRole('link', { name: 'three' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await picture('keys');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('search');
    await page.keyboard.type('n?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByText('No matching sessions').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.getByRole('link', { name: 'three' }).waitFor();
    await page.getByRole('heading', { name: 'Sessions', exact: true }).focus();
    for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('heading', { name: 'two' }).waitFor();
    await expect.poll(() => focused(page)).toBe('two');
    await page.goBack();
    await page.getByRole('link', { name: 'three' }).waitFor();
    await expect.poll(() => focused(page)).toBe('two');
    // From another page, and by text too.
    await page.goto('/manage/playbooks');
    await page.getByRole('heading', { name: 'Playbooks', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    // The arrow keys choose without taking the focus from the field.
    const choices = page.getByRole('dialog').getByRole('option');
    const chosen = page.getByRole('dialog').getByRole('option', { selected: true });
    await choices.nth(1).waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await chosen.textContent()).toBe(await choices.nth(1).textContent());
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await chosen.textContent()).toBe(await choices.last().textContent());
    await page.keyboard.type('new ses');
    await expect.poll(() => chosen.textContent()).toContain('New session');
    await picture('palette');
    await page.keyboard.press('Enter');
    await page.getByLabel('Prompt').waitFor();
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('the palette has the actions of the page, themes and other organizations', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Palette one');
    await makeOrganization(test, 'Palette two');
    const id = await createSession(test, { organizationId, title: 'To be put away' }, token);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, test.adminToken, {
      at: `/sessions/devin-${id}`,
    });
    const run = async (text: string) => {
      await page.keyboard.press('Control+k');
      const field = page.getByRole('dialog').getByRole('combobox');
      await field.fill(text);
      await page.getByRole('dialog').getByRole('option').first().waitFor();
      await field.press('Enter');
    };
    await page.getByRole('heading', { name: 'To be put away' }).waitFor();
    await run('archive session');
    await page.getByText('Session archived.').waitFor();
    await run('dark theme');
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.getByRole('button', { name: 'Dark', pressed: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('option', { name: 'Unarchive session' }).waitFor();
    await page.getByRole('dialog').getByRole('combobox').fill('no such thing');
    await page.getByText('No matches').waitFor();
    await page.keyboard.press('Control+k');
    const organization = page.getByRole('combobox', { name: 'Organization' }).first();
    // The current organization is not offered.
    const other = (await organization.inputValue()) === 'Palette one' ? 'Palette two' : 'Palette one';
    await run(`switch to ${other}`);
    await expect.poll(() => organization.inputValue()).toBe(other);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('Shift selects a range, and archived sessions leave the list', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Ranges');
    for (const title of ['a1', 'a2', 'a3', 'a4']) await createSession(test, { organizationId, title }, token);
    const { page } = await openSignedIn(browser, test, token);
    await page.getByLabel('Select a4').click();
    await page.getByLabel('Select a2').click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('3 sessions archived.').waitFor();
    await expect
      .poll(() => page.getByRole('list', { name: 'Sessions' }).getByRole('link').allTextContents())
      .toEqual(['a1']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'a3' }).waitFor();
    await page.context().close();
  });

  it('does not start a session twice after a lost response', async () => {
    const { token } = await makeOrganization(test, 'Lost answers');
    const { page } = await openSignedIn(browser, test, token);
    await page.keyboard.press('n');
    await page.getByLabel('Prompt').fill('sleep 600');
    let isLost = false;
    await page.route('**/graphql', async (route) => {
      if (isLost || !route.request().postData()?.includes('mutation useNewSessionMutation(')) return route.continue();
      isLost = true;
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByText('Can’t reach the service.').waitFor();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByLabel('Message to the agent').waitFor();
    const { data } = await graphql(
      test,
      token,
      '{ organizations(first: 1) { nodes { sessions(first: 9) { totalCount } } } }',
    );
    expect(data.organizations.nodes[0].sessions.totalCount).toBe(1);
    await page.context().close();
  });

  it('an invalid address shows the list with its filter', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Traps');
    await createSession(test, { organizationId, title: 'still here' }, token);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token);
    for (const query of [
      'state=__proto__',
      'state=constructor',
      'origin=toString',
      'q=still%00',
      'tag=%00',
      'new=&x=%00',
    ]) {
      await page.goto(`/sessions?${query}`);
      await page.getByText('still here').waitFor();
      expect(await page.getByRole('searchbox', { name: 'Search titles' }).count(), query).toBe(1);
      await page.keyboard.press('Escape');
    }
    // A filter that the service refuses can be cleared too.
    await page.goto('/sessions?playbook=playbook-%E2%98%A0');
    await page.getByRole('button', { name: /Clear/ }).first().click();
    await page.getByText('still here').waitFor();
    expect(pageErrors.filter((each) => !/playbook/i.test(each))).toEqual([]);
    await page.context().close();
  });
});
