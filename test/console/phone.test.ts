import { describe, expect, it, onTestFinished } from 'vitest';
import { missing, openSignedIn, useConsole } from '../support/console-browser.ts';
import { appendToLog, createSession, makeOrganization, say, toolCall } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the console in a small window', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  it('has the filters of the list in two columns, and a button that closes them', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Filters of a phone');
    await createSession(all.test, { organizationId, title: 'One' }, token);
    const { page, pictures } = await openSignedIn(all.browser, all.test, token, { at: '/sessions', width: 390 });
    onTestFinished(() => page.context().close());
    await page.getByRole('link', { name: 'One' }).waitFor();
    const filter = page.getByRole('button', { name: 'Filter', exact: true });
    await filter.click();
    const lefts = await page
      .locator('.filters-more .filter')
      .evaluateAll((fields) => fields.map((each) => Math.round(each.getBoundingClientRect().left)));
    expect(new Set(lefts).size).toBe(2);
    await pictures('sessions-filters');
    await page.getByRole('button', { name: 'Show results' }).click();
    await page.getByLabel('Status').waitFor({ state: 'hidden' });
    expect(await filter.getAttribute('aria-expanded')).toBe('false');
  });

  it('gives a transcript half of the height of an enlarged window', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Enlarged');
    const id = await createSession(all.test, { organizationId, title: 'Low', prompt: 'Begin' }, token);
    await say(all.test, id, 'Done.');
    const { page } = await openSignedIn(all.browser, all.test, token, { at: `/sessions/${id}`, width: 640 });
    onTestFinished(() => page.context().close());
    await page.setViewportSize({ width: 640, height: 400 });
    await page.getByRole('log').getByText('Done.').waitFor();
    const height = () => page.locator('.session .scroll').evaluate((each) => each.getBoundingClientRect().height);
    await expect.poll(height).toBeGreaterThanOrEqual(200);
  });

  it.each([false, true])('gives a transcript half of the smallest window, with a finger: %s', async (hasTouch) => {
    const { organizationId, token } = await makeOrganization(all.test, `Smallest ${hasTouch}`);
    const id = await createSession(all.test, { organizationId, title: 'Low', prompt: 'Begin' }, token);
    await say(all.test, id, 'Done.');
    const options = { at: `/sessions/${id}`, width: 320, hasTouch };
    const { page, picture } = await openSignedIn(all.browser, all.test, token, options);
    onTestFinished(() => page.context().close());
    await page.setViewportSize({ width: 320, height: 256 });
    await page.getByRole('log').getByText('Done.').waitFor();
    const field = page.getByLabel('Message to the agent');
    // The title and the tabs above the conversation scroll away.
    await field.focus();
    await field.evaluate((each) => each.scrollIntoView({ block: 'nearest' }));
    const shown = () =>
      page.locator('.session .scroll').evaluate((each) => {
        const { top, bottom } = each.getBoundingClientRect();
        return Math.min(bottom, innerHeight) - Math.max(top, 0);
      });
    await expect.poll(shown).toBeGreaterThanOrEqual(128);
    expect((await field.boundingBox())?.y).toBeLessThan(256);
    await picture(`session-smallest${hasTouch ? '-touch' : ''}`);
    // While the agent works, the field has a list and a button more.
    const working = `update session set status = 'running', status_detail = 'working' where id = $1 returning id`;
    await all.test.app.services.store.execute(working, [id]);
    await page.reload();
    await field.scrollIntoViewIfNeeded();
    await page.getByRole('button', { name: 'Stop (Esc)' }).waitFor();
    await expect.poll(shown).toBeGreaterThanOrEqual(128);
    await picture(`session-smallest-working${hasTouch ? '-touch' : ''}`);
  });

  it('shows all of the placeholder of the search', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Searched');
    const id = await createSession(all.test, { organizationId, title: 'Searched', prompt: 'Begin' }, token);
    const options = { at: `/sessions/${id}`, width: 390, hasTouch: true };
    const { page, picture } = await openSignedIn(all.browser, all.test, token, options);
    onTestFinished(() => page.context().close());
    await page.getByRole('button', { name: 'Search the transcript' }).click();
    const field = page.getByRole('searchbox', { name: 'Search the transcript' });
    await field.waitFor();
    const room = () =>
      field.evaluate((input: HTMLInputElement) => {
        const { font, paddingLeft, paddingRight } = getComputedStyle(input);
        const context = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
        context.font = font;
        const inner = input.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
        return inner - context.measureText(input.placeholder).width;
      });
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      await expect.poll(room, { message: String(width) }).toBeGreaterThanOrEqual(0);
    }
    await picture('transcript-search-placeholder');
    await field.fill('Begin');
    await page.getByRole('button', { name: 'Previous match' }).waitFor();
  });

  it('shows that steps can be opened, and why one has failed', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Steps');
    const id = await createSession(all.test, { organizationId, title: 'Steps', prompt: 'Begin' }, token);
    const long = 'npm test -- '.concat('a-very-long-name '.repeat(20));
    await appendToLog(
      all.test,
      id,
      toolCall(1, { title: long, toolKind: 'execute' }),
      toolCall(2, { title: 'Read a.ts', toolKind: 'read' }),
      toolCall(3, { title: 'Push', status: 'failed', output: 'To git.example\n! [rejected] main\nhint: fetch' }),
    );
    const { page, pictures } = await all.open(`/sessions/${id}`, token);
    const failed = page.locator('.tool.failed');
    await failed.getByText('! [rejected] main').waitFor();
    expect(await failed.locator('summary .folds-mark').isVisible()).toBe(true);
    await page.locator('.tool.fold > summary').click();
    const inner = page.locator('.fold-body .tool');
    await inner.first().waitFor();
    await pictures('session-steps');
    const edges = await page.locator('.fold-body').evaluate((body) => ({
      outer: body.getBoundingClientRect().right,
      inner: [...body.children].map((each) => each.getBoundingClientRect().right),
    }));
    expect(Math.max(...edges.inner)).toBeLessThan(edges.outer);
    expect(await inner.first().locator('.folds-mark').isVisible()).toBe(true);
    await failed.locator('summary').click();
    await failed.locator('.reason').waitFor({ state: 'detached' });
    await failed.getByText('hint: fetch').waitFor();
  });
});
