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
