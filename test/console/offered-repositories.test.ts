import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { giteaToken, startGitea } from '../support/forges/gitea.ts';
import { runMutation } from '../support/people.ts';

describe.skipIf(missing !== null)('the repositories of a forge', { timeout: 240_000 }, () => {
  const service = useConsole({ isHttpForgeAllowed: true });
  let gitea: Awaited<ReturnType<typeof startGitea>>;
  beforeAll(async () => {
    gitea = await startGitea();
    const access = { providerType: 'GITEA_TOKEN', host: gitea.url, token: giteaToken, name: 'Forge' };
    const { userErrors } = await runMutation(service.test, 'createGitConnection', '', access);
    expect(userErrors).toEqual([]);
  });
  afterAll(() => gitea?.close());

  it('are offered before a session has used them, and a name that the forge does not know gets a warning', async () => {
    const window = await service.open('/sessions?new=yes');
    const { page } = window;
    const { host } = new URL(gitea.url);
    const picker = page.getByRole('combobox', { name: 'Repositories', exact: true });
    const chosen = page.getByRole('list', { name: 'Repositories: chosen' }).getByRole('listitem');
    await picker.fill('sit');
    const offered = page.getByRole('listbox').getByRole('option').filter({ hasText: 'acme/site' });
    await offered.filter({ hasText: host }).click();
    await chosen.filter({ hasText: `${host}/acme/site` }).waitFor();
    await picker.fill('acme/sitr');
    await page.getByLabel('Prompt').click();
    const mistyped = chosen.filter({ hasText: 'acme/sitr' });
    await mistyped.getByText(`Repository not found on ${host}, or the connection can’t read it.`).waitFor();
    expect(await chosen.filter({ hasText: 'not found' }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Start', exact: true }).isEnabled()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('new-session-offered-repositories');
    expect(window.consoleErrors).toEqual([]);
  });
});
