import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { createAutomation, updateAutomation } from '../support/automations.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('unsaved input under Manage', { timeout: 240_000 }, () => {
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

  const restored = (page: Page) => page.getByText('Your unsaved changes were restored.');
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const makePlaybook = async (name: string) => {
    const { organizationId, token } = await makeOrganization(test, name);
    const input = { scope: { organizationId }, title: 'Fix it', body: 'One\nTwo\nThree' };
    const { playbook } = await runMutation(test, 'createPlaybook', 'playbook { id playbookId }', input, token);
    const read = async () => {
      const document = 'query($id: ID!) { node(id: $id) { ... on Playbook { title body } } }';
      return (await graphql(test, token, document, { id: playbook.id })).data.node;
    };
    return { token, organizationId, read, address: `/manage/playbooks/${playbook.id}`, id: playbook.playbookId };
  };

  it('does not overwrite another tab’s save, unless the user confirms it', async () => {
    const { token, read, address } = await makePlaybook('Two tabs');
    const { page, consoleErrors: pageErrors, picture } = await openSignedIn(browser, test, token);
    const other = await page.context().newPage();
    const body = (of: Page) => of.getByLabel('Instructions', { exact: true });
    for (const each of [page, other]) await each.goto(address);
    await body(page).fill('One\nMine\nThree');
    await body(other).fill('One\nTwo\nTheirs');
    await press(other, 'Save');
    await other.getByText('Saved Fix it.').waitFor();
    await press(page, 'Save');
    const news = page.getByRole('region', { name: 'saved changes while you were editing' });
    await news.getByText('+ Theirs').waitFor();
    await picture('saved-meanwhile');
    expect(await seriousFindings(page)).toEqual([]);
    expect(await body(page).inputValue()).toBe('One\nMine\nThree');
    expect(await read()).toMatchObject({ body: 'One\nTwo\nTheirs' });
    await press(page, 'Use their version');
    await expect.poll(() => body(page).inputValue()).toBe('One\nTwo\nTheirs');
    // The input is not lost.
    await press(page, 'Undo');
    await expect.poll(() => body(page).inputValue()).toBe('One\nMine\nThree');
    // Another user saves again.
    await other.goto(address);
    await body(other).fill('Theirs again');
    await press(other, 'Save');
    await other.getByText('Saved Fix it.').waitFor();
    await press(page, 'Save');
    await news.getByText('+ Theirs again').waitFor();
    await press(page, 'Save my version');
    await page.getByText('Saved Fix it.').waitFor();
    expect(await read()).toMatchObject({ body: 'One\nMine\nThree' });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  /** Lets another user save after the page has read the service's version and before it saves its own. */
  async function saveBetween(page: Page, save: () => Promise<unknown>) {
    let isOvertaken = false;
    await page.route('**/graphql', async (route) => {
      if (!isOvertaken && route.request().postData()?.includes('expectedVersion')) {
        isOvertaken = true;
        await save();
      }
      await route.continue();
    });
  }

  it('does not overwrite a save between its check and its own save', async () => {
    const { token, read, address, id } = await makePlaybook('A moment between');
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token, { at: address });
    await page.getByLabel('Instructions', { exact: true }).fill('One\nMine\nThree');
    await saveBetween(page, () =>
      runMutation(test, 'updatePlaybook', 'playbook { id }', { playbookId: id, body: 'Theirs' }, token),
    );
    await press(page, 'Save');
    await page.getByRole('region', { name: 'saved changes while you were editing' }).getByText('+ Theirs').waitFor();
    expect(await read()).toMatchObject({ body: 'Theirs' });
    await press(page, 'Save my version');
    await page.getByText('Saved Fix it.').waitFor();
    expect(await read()).toMatchObject({ body: 'One\nMine\nThree' });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is compared with the saved automation for fields that both have changed', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Automations of two');
    const { automation } = await createAutomation(test, { name: 'Sweep', organizationId }, token);
    const change = (input: object) =>
      updateAutomation(test, { automationId: automation.automationId, ...input }, token);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token, {
      at: `/manage/automations/${automation.id}`,
    });
    await press(page, 'Edit');
    const name = page.getByLabel('Name');
    await name.fill('Sweep mine');
    await change({ name: 'Sweep theirs', jitterSeconds: 7 });
    await press(page, 'Save');
    const news = page.getByRole('region', { name: 'saved changes while you were editing' });
    await news.getByText('+ Sweep theirs').waitFor();
    expect(await news.getByRole('figure').count()).toBe(1);
    await press(page, 'Use their version');
    await expect.poll(() => name.inputValue()).toBe('Sweep theirs');
    await press(page, 'Undo');
    await expect.poll(() => name.inputValue()).toBe('Sweep mine');
    await press(page, 'Save');
    await press(page, 'Save my version');
    await page.getByText('Saved Sweep mine.').waitFor();
    const document = 'query($id: ID!) { node(id: $id) { ... on Automation { name jitterSeconds } } }';
    const { data } = await graphql(test, token, document, { id: automation.id });
    // Fields that were not changed here keep the other user's values.
    expect(data.node).toEqual({ name: 'Sweep mine', jitterSeconds: 7 });
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('does not overwrite a saved automation between its check and its own save', async () => {
    const { organizationId, token } = await makeOrganization(test, 'An automation and a moment');
    const { automation } = await createAutomation(test, { name: 'Sweep', organizationId }, token);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token, {
      at: `/manage/automations/${automation.id}`,
    });
    await press(page, 'Edit');
    await page.getByLabel('Name').fill('Sweep mine');
    await saveBetween(page, () =>
      updateAutomation(test, { automationId: automation.automationId, name: 'Sweep theirs' }, token),
    );
    await press(page, 'Save');
    await page
      .getByRole('region', { name: 'saved changes while you were editing' })
      .getByText('+ Sweep theirs')
      .waitFor();
    const document = 'query($id: ID!) { node(id: $id) { ... on Automation { name } } }';
    const read = async () => (await graphql(test, token, document, { id: automation.id })).data.node.name;
    expect(await read()).toBe('Sweep theirs');
    await press(page, 'Save my version');
    await page.getByText('Saved Sweep mine.').waitFor();
    expect(await read()).toBe('Sweep mine');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is compared with the saved note too, and stays when the note is deleted', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Notes of two');
    const make = (mutation: string, fields: string, input: Record<string, unknown>) =>
      runMutation(test, mutation, fields, input, token);
    const { knowledgeFolder: folder } = await make('createKnowledgeFolder', 'knowledgeFolder { id }', {
      scope: { organizationId },
      name: 'Backend',
    });
    const { knowledgeNote: note } = await make('createKnowledgeNote', 'knowledgeNote { id }', {
      scope: { organizationId },
      name: 'Logs',
      trigger: 'When it fails',
      body: 'In /var/log.',
    });
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token, {
      at: `/manage/knowledge/${note.id}`,
    });
    await page.getByLabel('Text', { exact: true }).fill('In the journal.');
    await make('updateKnowledgeNote', 'knowledgeNote { id }', { knowledgeNoteId: note.id, folderId: folder.id });
    await press(page, 'Save');
    const news = page.getByRole('region', { name: 'saved changes while you were editing' });
    await news.getByRole('figure', { name: 'Folder' }).getByText('+ Backend').waitFor();
    await make('deleteKnowledgeNote', 'deletedKnowledgeNoteId', { knowledgeNoteId: note.id });
    await press(page, 'Save my version');
    await page.getByText('Someone deleted this.').waitFor();
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('In the journal.');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is restored after leaving or reloading the page, until it is saved or discarded', async () => {
    const { token, read, address } = await makePlaybook('Left');
    const { page, consoleErrors: pageErrors, picture } = await openSignedIn(browser, test, token);
    const title = page.getByLabel('Title');
    await page.goto(address);
    await title.fill('Half a tit');
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('heading', { name: 'Secrets', exact: true }).waitFor();
    await page.goBack();
    await restored(page).waitFor();
    expect(await title.inputValue()).toBe('Half a tit');
    await title.fill('Half a title');
    await page.reload();
    await restored(page).waitFor();
    expect(await title.inputValue()).toBe('Half a title');
    await picture('half-written');
    await press(page, 'Discard changes');
    await expect.poll(() => title.inputValue()).toBe('Fix it');
    await press(page, 'Undo');
    await expect.poll(() => title.inputValue()).toBe('Half a title');
    await press(page, 'Cancel');
    await page.getByRole('heading', { name: 'Playbooks', exact: true }).waitFor();
    await press(page, 'Undo');
    await restored(page).waitFor();
    await press(page, 'Save');
    await page.getByText('Saved Half a title.').waitFor();
    expect(await read()).toMatchObject({ title: 'Half a title' });
    await page.goto(address);
    await title.waitFor();
    expect(await restored(page).count()).toBe(0);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('stays for an automation, new or changed, too', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Automated');
    const { automation } = await createAutomation(test, { name: 'Sweep', organizationId }, token);
    const { page, consoleErrors: pageErrors } = await openSignedIn(browser, test, token);
    const name = page.getByLabel('Name');
    await page.goto('/manage/automations/new');
    await name.fill('Mop');
    await press(page, 'Add trigger');
    await page.getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('heading', { name: 'Secrets', exact: true }).waitFor();
    await page.goto(`/manage/automations/${automation.id}`);
    await press(page, 'Edit');
    await name.fill('Sweep well');
    await page.reload();
    await restored(page).waitFor();
    expect(await name.inputValue()).toBe('Sweep well');
    await press(page, 'Save');
    await page.getByText('Saved Sweep well.').waitFor();
    await page.goto('/manage/automations/new');
    await restored(page).waitFor();
    expect(await name.inputValue()).toBe('Mop');
    expect(await page.getByLabel('Trigger', { exact: true }).count()).toBe(2);
    await press(page, 'Discard changes');
    await expect.poll(() => page.getByLabel('Trigger', { exact: true }).count()).toBe(1);
    await page.reload();
    await name.waitFor();
    expect(await restored(page).count()).toBe(0);
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is offered when a form is opened again by the links and buttons of the console', async () => {
    const { organizationId, token } = await makeOrganization(test, 'Opened again');
    await createAutomation(test, { name: 'Sweep', organizationId }, token);
    const { page } = await openSignedIn(browser, test, token, { at: '/manage/automations' });
    const name = page.getByLabel('Name');
    const go = async (link: string) => {
      const side = page.getByRole('complementary', { name: 'Console' });
      await side.getByRole('link', { name: link, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: link, exact: true }).waitFor();
    };
    await press(page, 'New automation');
    await name.fill('Mop');
    await go('Secrets');
    await go('Automations');
    await press(page, 'New automation');
    await restored(page).waitFor();
    expect(await name.inputValue()).toBe('Mop');
    await go('Automations');
    await page.getByRole('link', { name: 'Sweep' }).click();
    await press(page, 'Edit');
    await name.fill('Sweep well');
    await go('Automations');
    await press(page, 'New automation');
    await restored(page).waitFor();
    await go('Automations');
    await page.getByRole('link', { name: 'Sweep' }).click();
    await restored(page).waitFor();
    expect(await name.inputValue()).toBe('Sweep well');
    for (const [list, button, label] of [
      ['Playbooks', 'New playbook', 'Title'],
      ['Knowledge', 'New note', 'Name'],
    ] as const) {
      await go(list);
      await page.getByRole('button', { name: button }).first().click();
      await page.getByLabel(label, { exact: true }).fill(`Half a ${list}`);
      await go('Secrets');
      await go(list);
      await page.getByRole('button', { name: button }).first().click();
      await restored(page).waitFor();
      expect(await page.getByLabel(label, { exact: true }).inputValue()).toBe(`Half a ${list}`);
    }
    await page.context().close();
  });

  it('is not stored if it is secret: the browser asks instead', async () => {
    const { token } = await makeOrganization(test, 'Secret');
    const { page } = await openSignedIn(browser, test, token, { at: '/manage/secrets' });
    await page.getByRole('button', { name: 'New secret' }).first().click();
    await page.getByLabel('Value', { exact: true }).click();
    await page.keyboard.type('c4n4ry-half-written');
    const dialogTypes: string[] = [];
    page.on('dialog', (dialog) => {
      dialogTypes.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    expect(dialogTypes).toEqual(['beforeunload']);
    const readStorage = () => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    expect(await readStorage()).not.toContain('c4n4ry');
    await page.context().close();
  });
});
