import { describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the link to a session', { timeout: 240_000 }, () => {
  const all = useConsole();

  const addressOf = (id: string) => `/sessions/${id.replace('devin-', '')}`;

  it('is copied in the details, which say who can open it', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Sharing');
    const id = await createSession(all.test, { organizationId, title: 'Shared' }, token);
    const { page, picture, consoleErrors } = await all.open(addressOf(id), token);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByText('Anyone who can view sessions of Sharing can open the link.').waitFor();
    await page.getByRole('button', { name: 'Copy link', exact: true }).click();
    await page.getByText('Copied.').waitFor();
    await picture('share-session');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${all.test.url}${addressOf(id)}`);
    expect(consoleErrors).toEqual([]);
  });

  it('says of an unlisted session that others need the link', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Hidden');
    const id = await createSession(all.test, { organizationId, title: 'Unlisted', isUnlisted: true }, token);
    const { page } = await all.open(addressOf(id), token);
    await page.getByText('This session is unlisted, so others need the link to find it.').waitFor();
  });

  it('shows the same page for a session that the viewer may not view as for one that does not exist', async () => {
    const [owner, stranger] = [
      await makeOrganization(all.test, 'Owners'),
      await makeOrganization(all.test, 'Strangers'),
    ];
    const id = await createSession(
      all.test,
      { organizationId: owner.organizationId, title: 'Not theirs' },
      owner.token,
    );
    const texts: (string | null)[] = [];
    for (const address of [addressOf(id), `/sessions/${'0'.repeat(32)}`]) {
      const { page, picture, consoleErrors } = await all.open(address, stranger.token);
      await page.getByText('Session not found').waitFor();
      await page.getByText('You’re signed in as Strangers bot.').waitFor();
      texts.push(await page.locator('#main').textContent());
      await picture('missing-session');
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.title()).not.toContain('Not theirs');
      expect(consoleErrors).toEqual([]);
    }
    expect(texts[0]).toBe(texts[1]);
  });
});
