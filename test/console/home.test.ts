import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { graphql } from '../support/app.ts';
import { missing, openSignedIn, seriousFindings, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeUsableRepository } from '../support/repositories.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

const heading = { name: 'What should the agent do?', exact: true };
const long = `Write the notes of the release. ${'Each change in one sentence. '.repeat(20)}The end.`;

describe.skipIf(missing !== null)('the home page', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });
  let organizationId: string;
  let user: { token: string; userId: string };

  const open = async (token = user.token, width = 1_280, at = '/') => {
    const window = await openSignedIn(all.browser, all.test, token, { at, width });
    onTestFinished(() => window.page.context().close());
    return window;
  };

  beforeAll(async () => {
    ({ organizationId } = await makeOrganization(all.test, 'Home'));
    user = await makeUser(all.test, { organizationId });
    await makeUsableRepository(all.test, organizationId);
    await runMutation(all.test, 'createPlaybook', '', {
      ...{ scope: { organizationId }, title: 'Release the service', macro: '!release', body: 'Release {{version}}.' },
    });
    await createSession(all.test, { organizationId, prompt: long }, user.token);
    await createSession(all.test, { organizationId, prompt: 'Make the search quick' }, user.token);
    await createSession(all.test, { organizationId, prompt: 'Make the search quick' }, user.token);
  });

  it('starts a session by the form of the dialog, whose rarer fields are behind More', async () => {
    const window = await open();
    const { page } = window;
    await page.getByRole('heading', heading).waitFor();
    const prompt = page.getByRole('main').getByLabel('What should the agent do?');
    await prompt.waitFor();
    expect(await prompt.evaluate((field) => field === document.activeElement)).toBe(true);
    await page
      .getByRole('region', { name: 'Inbox' })
      .getByRole('link', { name: 'Make the search quick' })
      .first()
      .waitFor();
    await page.getByRole('button', { name: /^Make the search quick/ }).waitFor();
    await window.inThemes(async (theme) => {
      await window.picture('home');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    // The keyboard goes through the form as it is seen: from top to bottom, and Start is the last.
    const order = await page
      .locator('.home-composer :is(textarea, input, select, summary, button)')
      .evaluateAll((all) =>
        all
          .filter((each) => each.checkVisibility())
          .map((each) => each.getBoundingClientRect())
          .map(({ top, bottom }) => Math.round((top + bottom) / 2)),
      );
    expect(order.length).toBeGreaterThan(4);
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    expect(await page.getByLabel('ACU limit').isVisible()).toBe(false);
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('ACU limit').fill('7');
    await page.getByLabel('Tags').fill('docs');
    await page.getByLabel('Agent', { exact: true }).selectOption({ index: 0 });
    // An error of a field that is behind More opens it.
    await prompt.fill('Look at the build');
    await page.getByLabel('Tags').fill('x'.repeat(300));
    await page.getByText('More', { exact: true }).click();
    expect(await page.getByLabel('ACU limit').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('main').getByRole('alert').waitFor();
    expect(await page.getByLabel('Tags').isVisible()).toBe(true);
    await page.getByLabel('Tags').fill('docs');
    await prompt.press('Control+Enter');
    await page.getByRole('log').getByText('Look at the build').waitFor();
    const { data } = await graphql(
      all.test,
      user.token,
      'query($id: ID!) { organization(id: $id) { sessions(first: 1) { nodes { title tags maxAcuLimit } } } }',
      { id: organizationId },
    );
    expect(data.organization.sessions.nodes).toEqual([{ title: 'Look at the build', tags: ['docs'], maxAcuLimit: 7 }]);
    await page.goBack();
    await page.getByRole('heading', heading).waitFor();
    expect(await prompt.inputValue()).toBe('');
    expect(window.consoleErrors).toEqual([]);
  });

  it('completes names, and says what an empty form needs', async () => {
    const window = await open();
    const { page } = window;
    const main = page.getByRole('main');
    const prompt = main.getByLabel('What should the agent do?');
    const options = page.getByRole('listbox', { name: 'Completions' });
    await prompt.waitFor();
    await main.getByText('Ctrl+Enter to start').waitFor();
    await prompt.press('Control+Enter');
    await main.getByRole('alert').getByText('Describe a task.', { exact: true }).waitFor();
    expect(await prompt.evaluate((field) => field === document.activeElement)).toBe(true);
    await prompt.pressSequentially('/rel');
    await options.getByRole('option', { name: 'Release the service' }).waitFor();
    expect(await main.getByRole('alert').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await prompt.press('Enter');
    expect(await prompt.inputValue()).toBe('!release ');
    await prompt.pressSequentially('in @acme');
    await options.getByRole('option', { name: /^acme\// }).waitFor();
    await prompt.press('Tab');
    expect(await prompt.inputValue()).toMatch(/^!release in @acme\/[0-9a-f]+ $/);
    // A completed prompt is kept like a typed one.
    const completed = await prompt.inputValue();
    await page.reload();
    await expect.poll(() => prompt.inputValue()).toBe(completed);

    await prompt.fill('');
    await page.getByRole('combobox', { name: 'Playbook', exact: true }).click();
    await page.getByRole('option', { name: 'Release the service' }).click();
    const version = main.getByLabel('version', { exact: true });
    await version.waitFor();
    await main.getByRole('button', { name: 'Start', exact: true }).click();
    await main.getByText('Describe a task, or fill in a value of the playbook.', { exact: true }).waitFor();
    const chosen = page.waitForEvent('filechooser');
    await main.getByRole('button', { name: 'Attach files' }).click();
    await (await chosen).setFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Notes') }]);
    await main.getByText('More', { exact: true }).click();
    await window.inThemes(() => window.picture('home-filled'));
    const box = async (locator: Locator) => {
      const found = await locator.boundingBox();
      if (!found) throw new Error('The element is not shown.');
      return found;
    };
    const [repositories, agent, playbook] = await Promise.all(
      ['Repositories', 'Agent', 'Playbook'].map((name) =>
        box(
          main
            .locator('.chips > .field, .chips > .repositories > .field')
            .filter({ has: page.getByText(name, { exact: true }) }),
        ),
      ),
    );
    expect([agent?.y, playbook?.y]).toEqual([repositories?.y, repositories?.y]);
    expect((await box(main.getByRole('list', { name: 'Attached files' }))).y).toBeLessThan(repositories?.y ?? 0);
    const title = await box(main.getByLabel('Title', { exact: true }));
    const limit = await box(main.getByText('ACU limit', { exact: true }));
    expect(limit.y - title.y - title.height).toBeGreaterThan(8);
    expect(
      await main
        .getByRole('group', { name: 'Values for the playbook' })
        .evaluate((group) => getComputedStyle(group).borderTopStyle),
    ).toBe('solid');
    expect(window.consoleErrors).toEqual([]);
  });

  it('offers the recent prompts of the user, each once and whole, and keeps what is typed', async () => {
    const { page, consoleErrors } = await open();
    const recent = page.getByRole('region', { name: 'Recent prompts' });
    const prompt = page.getByRole('main').getByLabel('What should the agent do?');
    await recent.waitFor();
    expect(await recent.getByRole('button', { name: /^Make the search quick/ }).count()).toBe(1);
    await recent.getByRole('button', { name: /^Write the notes/ }).click();
    await expect.poll(() => prompt.inputValue()).toBe(long);
    await prompt.fill('Typed by hand');
    await recent.getByRole('button', { name: /^Make the search quick/ }).click();
    await expect.poll(() => prompt.inputValue()).toBe('Make the search quick');
    await page.getByText('Prompt replaced.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    expect(await prompt.inputValue()).toBe('Typed by hand');
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('heading', { name: 'Usage', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await recent.waitFor();
    expect(await prompt.inputValue()).toBe('Typed by hand');
    expect(consoleErrors).toEqual([]);
  });

  it('offers examples to a user without sessions', async () => {
    const { token } = await makeUser(all.test, { organizationId });
    const { page } = await open(token);
    const prompt = page.getByRole('main').getByLabel('What should the agent do?');
    const shown = page.getByRole('region', { name: 'Examples to start with' });
    // The demo agent is the only one here.
    await shown.getByRole('button').waitFor();
    expect(await shown.getByRole('button').allTextContents()).toEqual(['A tour of a session']);
    await shown.getByRole('button').click();
    await expect.poll(() => prompt.inputValue()).toContain('ask Which language should the greeting have?');
    expect(await page.getByRole('region', { name: 'Recent prompts' }).count()).toBe(0);
  });

  it('shows an administrator what is left to set up, until it is done or dismissed', async () => {
    // The home page of an organization with sessions would close the setup.
    const window = await open(all.test.adminToken, 390, '/sessions');
    const { page } = window;
    await page.evaluate((id) => localStorage.setItem('switchyard:organization', id), all.test.organizationId);
    await page.goto('/');
    await page.getByRole('heading', { name: 'Getting started', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Skip' }).click();
    await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    await page.goto('/');
    const card = page.getByRole('region', { name: 'Set up Switchyard' });
    await card.getByRole('link', { name: 'Install an agent' }).waitFor();
    await card.getByRole('link', { name: 'Add a model key' }).waitFor();
    await card.getByRole('link', { name: 'Connect a repository' }).waitFor();
    await card.getByRole('link', { name: 'Invite someone' }).waitFor();
    await card.getByRole('button', { name: 'Start your first session' }).click();
    const prompt = page.getByRole('main').getByLabel('What should the agent do?');
    expect(await prompt.evaluate((field) => field === document.activeElement)).toBe(true);
    await createSession(all.test, { prompt: 'The first one' });
    await page.reload();
    await card.getByText('Start your first session: done').waitFor();
    await window.inThemes(async (theme) => {
      await window.picture('home');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
      .toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1_920, height: 1_080 });
    await window.inThemes(() => window.picture('home'));
    await card.getByRole('button', { name: 'Dismiss the checklist' }).click();
    await card.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', heading).waitFor();
    await page.getByRole('button', { name: /^The first one/ }).waitFor();
    expect(await card.count()).toBe(0);
    expect(window.consoleErrors).toEqual([]);
  });
});
