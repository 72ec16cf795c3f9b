import { beforeAll, describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeUsableRepository } from '../support/repositories.ts';
import { saveWorkspace } from '../support/saved-workspace.ts';
import { createSession } from '../support/sessions.ts';

/** A red image of one pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(missing !== null)('the field for messages', { timeout: 240_000 }, () => {
  const service = useConsole();
  const { open } = service;
  let id: string;
  beforeAll(async () => {
    const { test } = service;
    id = await createSession(test, { prompt: 'Wait', title: 'Complete me' });
    await saveWorkspace(test, id, {
      files: {
        'workspace/src/server.ts': { content: 'x' },
        'workspace/src/deep/index.ts': { content: 'x' },
        'workspace/readme.md': { content: 'x' },
      },
    });
    await makeUsableRepository(test, test.organizationId);
    const scope = { organizationId: test.organizationId };
    const playbook = { scope, body: 'Do it.' };
    await runMutation(test, 'createPlaybook', '', { ...playbook, title: 'Release the service', macro: '!release' });
    await runMutation(test, 'createPlaybook', '', { ...playbook, title: 'Without a shortcut, service' });
  });

  it('completes files and playbooks by keys, in few requests', async () => {
    const window = await open(`/sessions/${id}`);
    const { page } = window;
    let requests = 0;
    page.on('request', (request) => {
      if (request.postData()?.includes('useCompletionsQuery')) requests += 1;
    });
    const field = page.getByLabel('Message to the agent');
    const list = page.getByRole('listbox', { name: 'Completions' });
    const option = (name: string) => list.getByRole('option', { name });
    await field.pressSequentially('See @s');
    await option('src/ Directory').waitFor();
    await option('Release the service').waitFor();
    expect(await option('Without a shortcut').count()).toBe(0);
    expect(requests).toBeLessThan(4);
    await window.inThemes(async (theme) => expect(await seriousFindings(page), theme).toEqual([]));
    await window.pictures('session-completion');
    // A directory opens its entries.
    await field.press('Enter');
    expect(await field.inputValue()).toBe('See @src/');
    // The new list, not what matches of the former one.
    await list.getByRole('option').first().filter({ hasText: 'src/deep/' }).waitFor();
    await field.press('ArrowDown');
    expect(await field.getAttribute('aria-activedescendant')).toBe(await option('src/server.ts').getAttribute('id'));
    await field.press('Tab');
    expect(await field.inputValue()).toBe('See @src/server.ts ');
    await list.waitFor({ state: 'detached' });
    await field.pressSequentially('@ACME');
    await option('git.test').waitFor();
    await field.press('ArrowDown');
    await field.press('ArrowUp');
    await field.press('Enter');
    expect(await field.inputValue()).toMatch(/^See @src\/server\.ts @acme\/[0-9a-f]+ $/);
    await field.fill('See @src/server.ts ');
    await field.pressSequentially('and !REL');
    await option('Release the service').waitFor();
    expect(await field.getAttribute('aria-activedescendant')).toBe(await option('Release').getAttribute('id'));
    await field.press('Enter');
    expect(await field.inputValue()).toBe('See @src/server.ts and !release ');
    expect(window.consoleErrors).toEqual([]);
  });

  it('finds a file by a part of its name; Enter chooses it, and sends once the list is empty', async () => {
    const { page } = await open(`/sessions/${id}`);
    const field = page.getByLabel('Message to the agent');
    const list = page.getByRole('listbox', { name: 'Completions' });
    await field.fill('');
    await field.pressSequentially('@ind');
    await list.getByRole('option', { name: 'src/deep/index.ts' }).waitFor();
    await field.press('Enter');
    expect(await field.inputValue()).toBe('@src/deep/index.ts ');
    await field.pressSequentially('@nowhere');
    await list.waitFor({ state: 'detached' });
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('');
    await page.getByLabel('Queued messages').getByText('@src/deep/index.ts @nowhere').waitFor();
  });

  it('closes the list with Escape, and then sends with Enter', async () => {
    const { page } = await open(`/sessions/${id}`);
    const field = page.getByLabel('Message to the agent');
    const list = page.getByRole('listbox', { name: 'Completions' });
    await field.fill('');
    await field.pressSequentially('/rel');
    await list.getByRole('option').first().waitFor();
    await field.press('Escape');
    await list.waitFor({ state: 'detached' });
    expect({ path: new URL(page.url()).pathname, text: await field.inputValue() }).toEqual({
      path: `/sessions/${id}`,
      text: '/rel',
    });
    await field.press('Enter');
    await expect.poll(() => field.inputValue()).toBe('');
    await page.getByLabel('Queued messages').getByText('/rel').waitFor();
  });

  it('completes in the dialog for a new session too, where Escape closes only the list', async () => {
    const { page } = await open('/sessions?new=yes');
    const dialog = page.getByRole('dialog', { name: 'New session' });
    const field = dialog.getByLabel('Prompt', { exact: true });
    const list = page.getByRole('listbox', { name: 'Completions' });
    await field.fill(' ');
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await dialog.getByRole('alert').getByText('Describe a task.', { exact: true }).waitFor();
    await field.fill('');
    await field.pressSequentially('@s');
    await list.getByRole('option', { name: 'Release the service' }).waitFor();
    // No session, no files.
    expect(await list.getByRole('option', { name: 'src/' }).count()).toBe(0);
    await field.press('Escape');
    await list.waitFor({ state: 'detached' });
    expect(await field.inputValue()).toBe('@s');
  });

  it('shows a thumbnail of an image, and the name and size of each file', async () => {
    const window = await open(`/sessions/${id}`);
    const { page } = window;
    const chosen = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Attach files' }).click();
    await (await chosen).setFiles([
      { name: 'red.png', mimeType: 'image/png', buffer: png },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('twelve bytes') },
    ]);
    const files = page.getByRole('list', { name: 'Attached files' });
    await files.locator('.thumbnail[data-drawn]').waitFor();
    expect(await files.locator('.thumbnail').count()).toBe(1);
    const colour = await files.locator('.thumbnail').evaluate((canvas) => {
      const context = (canvas as HTMLCanvasElement).getContext('2d');
      return [...(context?.getImageData(40, 40, 1, 1).data ?? [])].slice(0, 3);
    });
    expect(colour.every((value) => value === 0)).toBe(false);
    await files.getByText('12 B').waitFor();
    await window.pictures('session-thumbnails');
    await files.getByRole('button', { name: 'Remove red.png' }).click();
    expect(await files.locator('.thumbnail').count()).toBe(0);
    expect(window.consoleErrors).toEqual([]);
  });
});
