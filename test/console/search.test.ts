import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { sayMany } from '../support/many-sessions.ts';
import { appendToLog, createSession, makeOrganization, say, toolCall } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the search', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  const message = (page: Page, text: string) => page.getByRole('log').getByText(text, { exact: true });
  const bar = (page: Page) => page.getByRole('searchbox', { name: 'Search the transcript' });
  const marked = (page: Page) =>
    page.evaluate(() => [...(CSS.highlights.get('search') ?? [])].map((range) => (range as Range).toString()));

  it('finds entries of a transcript that are not loaded, by keyboard alone', async () => {
    const id = await createSession(all.test, { prompt: 'Begin', title: 'Long search' });
    await say(all.test, id, 'I inspect the aqueduct.');
    await sayMany(all.test, id, 200);
    await appendToLog(all.test, id, toolCall(1, { title: 'Read Aqueducts.md', toolKind: 'read' }));
    await sayMany(all.test, id, 200);
    await say(all.test, id, 'It is re-repaired.', 'The aqueduct is repaired.');
    const window = await all.open(`/sessions/${id}`);
    const { page } = window;
    await message(page, 'The aqueduct is repaired.').waitFor();
    await page.keyboard.press('Control+f');
    await page.keyboard.type('aqueduct');
    await page.getByText('1 of 3').waitFor();
    await expect.poll(() => marked(page)).toEqual(['aqueduct']);
    await page.keyboard.press('Enter');
    await page.getByText('2 of 3').waitFor();
    await page.getByRole('log').getByText('Read Aqueducts.md').waitFor();
    await expect.poll(() => marked(page)).toContain('Aqueduct');
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-search');
    await page.keyboard.press('ArrowUp');
    await page.getByText('3 of 3').waitFor();
    await message(page, 'I inspect the aqueduct.').waitFor();
    // There is nothing before it.
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.getByText('2 of 3').waitFor();
    // Two words that a hyphen joins are one part of the text.
    await page.keyboard.press('Control+a');
    await page.keyboard.type('re-repaired');
    await page.getByText('1 of 1').waitFor();
    await expect.poll(() => marked(page)).toEqual(['re-repaired']);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('zeppelin');
    await page.getByText('No matches').waitFor();
    await page.keyboard.press('Escape');
    await bar(page).waitFor({ state: 'detached' });
    expect(await marked(page)).toEqual([]);
    // The page stays where it is: Escape closed the search alone.
    expect(new URL(page.url()).pathname).toBe(`/sessions/${id}`);
    await page.keyboard.press('/');
    await bar(page).waitFor();
    expect(window.consoleErrors).toEqual([]);
  });

  it('loads further matches', async () => {
    const id = await createSession(all.test, { prompt: 'Many of them', title: 'Many matches' });
    for (let n = 0; n < 60; n++) await say(all.test, id, `needle ${n}`);
    const { page, consoleErrors } = await all.open(`/sessions/${id}`);
    await message(page, 'needle 59').waitFor();
    await page.getByRole('button', { name: 'Search the transcript (/)' }).click();
    await page.keyboard.type('needle');
    await page.getByText('1 of 60').waitFor();
    for (let n = 2; n <= 51; n++) {
      await page.keyboard.press('Enter');
      await page.getByText(`${n} of 60`).waitFor();
    }
    await message(page, 'needle 9').waitFor();
    expect(consoleErrors).toEqual([]);
  });

  it('finds transcripts from the palette and the list, and opens the session at the entry', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Transcripts');
    const start = (title: string) => createSession(all.test, { organizationId, title, prompt: 'Begin' }, token);
    const id = await start('Water supply');
    await say(all.test, id, 'The <b>viaduct</b> leaks at pier 4.');
    await sayMany(all.test, id, 120);
    await start('Viaduct in the title');
    await start('Something else');
    const window = await all.open('/sessions', token);
    const { page } = window;
    await page.getByText('Something else').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('leaks');
    const choice = page.getByRole('dialog').getByRole('option', { name: /Water supply.*leaks at pier 4/ });
    await choice.waitFor();
    expect(await choice.locator('mark').allTextContents()).toEqual(['leaks']);
    await window.pictures('palette-search');
    await choice.click();
    await page.getByText('1 of 1').waitFor();
    await page.getByRole('log').getByText('leaks at pier 4.').waitFor();
    await expect.poll(() => marked(page)).toEqual(['leaks']);

    await page.goto('/sessions');
    await page.getByRole('button', { name: 'In transcripts' }).click();
    await page.getByRole('searchbox').fill('viaduct');
    const list = page.getByRole('list', { name: 'Sessions found' });
    await list.waitFor();
    expect(await list.getByRole('listitem').count()).toBe(2);
    expect(await list.locator('mark').allTextContents()).toEqual(['Viaduct', 'viaduct']);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('sessions-search');
    // It has the size, the order and the selection of the list.
    await page.getByText('2 sessions', { exact: true }).waitFor();
    expect(await page.getByLabel('Sort').locator('option:checked').textContent()).toBe('Recently updated');
    await list.getByRole('checkbox').first().check();
    await page.getByText('1 selected').waitFor();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(1);
    await page.getByRole('region', { name: 'Notifications' }).getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => list.getByRole('listitem').count()).toBe(2);
    // The reason why it is no view is only said to those who try to save it.
    const reason = 'A search in transcripts can’t be saved as a view.';
    expect(await page.getByText(reason).count()).toBe(0);
    await page.getByRole('button', { name: 'Save view', description: reason }).press('Enter');
    await page.getByText(reason).waitFor();
    await list.getByRole('link', { name: /leaks at pier 4/ }).click();
    await page.getByText('1 of 1').waitFor();
    await page.goBack();
    await list.waitFor();
    await page.getByRole('searchbox').fill('neverwritten');
    await page.getByText('No matches').waitFor();
    expect(window.consoleErrors).toEqual([]);
  });

  it('says how many transcripts match if no title does, and shows them', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'No titles');
    const start = (title: string, tags: string[] = []) =>
      createSession(all.test, { organizationId, title, tags, prompt: 'Begin' }, token);
    for (const title of ['Red boat', 'Green boat']) {
      await say(all.test, await start(title, title === 'Red boat' ? ['red'] : []), 'The lighthouse is lit.');
    }
    await start('Nothing said');
    const window = await all.open('/sessions', token);
    const { page } = window;
    await page.getByRole('searchbox').fill('lighthouse');
    await page.getByText('No titles match').waitFor();
    await page.getByText('2 sessions match in their transcripts.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('none-match-transcripts');
    await page.getByRole('button', { name: 'Show matches in transcripts' }).click();
    const list = page.getByRole('list', { name: 'Sessions found' });
    await list.waitFor();
    expect(await list.getByRole('listitem').count()).toBe(2);
    expect(new URL(page.url()).search).toBe('?q=lighthouse&in=transcripts');
    // The other filters narrow the transcripts too.
    await page.goto('/sessions?q=lighthouse&tag=red');
    await page.getByText('1 session matches in its transcript.').waitFor();
    await page.getByRole('searchbox').fill('neverwritten');
    await page.getByText('Neither titles nor transcripts match.').waitFor();
    await page.getByText('No matching sessions').waitFor();
    expect(window.consoleErrors).toEqual([]);
  });
});
