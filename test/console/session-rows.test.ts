import { describe, expect, it } from 'vitest';
import { missing, openSignedIn, seriousFindings, useConsole } from '../support/console-browser.ts';
import { makeUser } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the rows of the list of sessions', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  const openList = async (name: string) => {
    const { organizationId, token } = await makeOrganization(all.test, name);
    const start = (title: string, input: object = {}) =>
      createSession(all.test, { organizationId, title, ...input }, token);
    const open = async () => {
      const window = await openSignedIn(all.browser, all.test, token);
      const isFollowed = new Promise<void>((resolve) => {
        window.page.on('websocket', (socket) => {
          socket.on('framesent', ({ payload }) => {
            if (String(payload).includes('sessionListSubscription')) resolve();
          });
        });
      });
      await window.page.goto('/sessions');
      return { ...window, isFollowed, titles: () => window.page.locator('.sessions .row-title a').allTextContents() };
    };
    return { start, open };
  };

  it('finds the words of a title in any order, also in the palette', async () => {
    const { start, open } = await openList('Words');
    await start('Write the release notes (37)');
    await start('Release 38');
    const { page, titles } = await open();
    await page.getByRole('link', { name: 'Release 38' }).waitFor();
    await page.getByLabel('Search titles').fill('37 release');
    await expect.poll(titles).toEqual(['Write the release notes (37)']);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('release 37');
    const choices = page.getByRole('dialog').getByRole('option');
    await expect.poll(() => choices.allTextContents()).toEqual([' Write the release notes (37)Queued']);
    await page.getByRole('combobox', { name: 'Action, session or page' }).fill('session new');
    await page.getByRole('option', { name: 'New session' }).waitFor();
    await page.context().close();
  });

  it('shows the agent, the changes, the last message and what is unread, and only the changes on a telephone', async () => {
    const { organizationId } = await makeOrganization(all.test, 'Facts');
    const user = await makeUser(all.test, { organizationId });
    const id = await createSession(all.test, { organizationId, title: 'Fix the build' }, user.token);
    await say(all.test, id, 'The build **fails**.');
    const { store } = all.test.app.services;
    await store.prisma.repositoryChange.create({
      data: {
        ...{ sessionId: id.replace('devin-', ''), position: 0, turn: 0, fileCount: 2, additions: 1_200, deletions: 7 },
        ...{ isTruncated: false, createdAt: new Date() },
      },
    });
    const { page, consoleErrors, inThemes, picture } = await openSignedIn(all.browser, all.test, user.token, {
      at: '/sessions',
    });
    const row = page.locator('.sessions li');
    await row.getByText('The build fails.').waitFor();
    await row.getByRole('img', { name: '1,200 lines added, 7 removed' }).waitFor();
    await row.getByRole('img', { name: 'Unread' }).waitFor();
    await inThemes(async (theme) => {
      await picture('list-rows');
      expect(await seriousFindings(page), theme).toEqual([]);
    });
    await say(all.test, id, 'Now it passes.');
    await row.getByText('Now it passes.').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await row.getByText('Now it passes.').waitFor({ state: 'hidden' });
    await row.getByRole('img', { name: '1,200 lines added, 7 removed' }).waitFor();
    await page.setViewportSize({ width: 1_280, height: 800 });
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: 'Fix the build' }).waitFor();
    await page.goBack();
    await row.getByText('Now it passes.').waitFor();
    await row.getByRole('img', { name: 'Unread' }).waitFor({ state: 'detached' });
    expect(consoleErrors).toEqual([]);
    await page.context().close();
  });

  it('can be sorted by the last change, which the address contains, and stays in order', async () => {
    const { start, open } = await openList('Sorted');
    const first = await start('First');
    const second = await start('Second');
    await start('Third');
    await say(all.test, first, 'Hello.');
    const { page, titles, isFollowed } = await open();
    await page.getByRole('link', { name: 'First' }).waitFor();
    expect(await titles()).toEqual(['Third', 'Second', 'First']);
    await page.getByLabel('Sort').selectOption('Recently updated');
    await expect.poll(titles).toEqual(['First', 'Third', 'Second']);
    expect(new URL(page.url()).search).toBe('?sort=updated');
    await page.reload();
    await expect.poll(titles).toEqual(['First', 'Third', 'Second']);
    await isFollowed;
    await say(all.test, second, 'Later.');
    await expect.poll(titles).toEqual(['Second', 'First', 'Third']);
    await page.context().close();
  });

  it('says that no session is archived', async () => {
    const { start, open } = await openList('No archive');
    await start('The only one');
    const { page } = await open();
    await page.getByRole('link', { name: 'The only one' }).waitFor();
    await page.getByRole('button', { name: 'Archived', exact: true }).click();
    await page.getByText('No archived sessions').waitFor();
    await page.getByLabel('Search titles').fill('x');
    await page.getByText('No matching sessions').waitFor();
    await page.context().close();
  });

  it('suggests tags of the organization when it adds tags to several sessions', async () => {
    const { start, open } = await openList('Suggested');
    await start('One', { tags: ['backend', 'build'] });
    await start('Two', { tags: ['docs'] });
    const { page } = await open();
    await page.getByLabel('Select Two').check();
    await page.getByRole('button', { name: 'Tag', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const suggested = () => dialog.getByRole('group', { name: 'Suggested tags' }).getByRole('button').allTextContents();
    await expect.poll(suggested).toEqual(['backend', 'build', 'docs']);
    await dialog.getByLabel('Tags').fill('later, BU');
    await expect.poll(suggested).toEqual(['build']);
    await dialog.getByRole('button', { name: 'build' }).click();
    expect(await dialog.getByLabel('Tags').inputValue()).toBe('later, build, ');
    expect(await dialog.getByLabel('Tags').evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByText('1 session tagged.').waitFor();
    await page.locator('.sessions li', { hasText: 'Two' }).getByText('later').waitFor();
    await page.context().close();
  });
});
