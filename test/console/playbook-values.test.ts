import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { missing, seriousFindings, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { makeOrganization } from '../support/sessions.ts';

describe.skipIf(missing !== null)('a playbook with placeholders', { timeout: 240_000 }, () => {
  const all = useConsole();

  const makePlaybook = async (organizationId: string, title: string, body: string) => {
    const scope = { organizationId };
    const { playbook } = await runMutation(all.test, 'createPlaybook', 'playbook { playbookId }', {
      scope,
      title,
      body,
    });
    return playbook.playbookId as string;
  };

  it('is offered by a link, asks for its values, and starts a session with them in the prompt', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Templates');
    const id = await makePlaybook(organizationId, 'Release', 'Release {{service}} as {{ version }}.');
    const at = `/sessions?new=yes&playbook=${id}`;
    const { page, picture, consoleErrors } = await all.open(at, token);
    const dialog = page.getByRole('dialog', { name: 'New session' });
    const values = dialog.getByRole('group', { name: 'Values for the playbook' });
    await values.getByLabel('service').fill('api');
    await values.getByLabel('version').fill('1.2 <b>');
    await picture('playbook-values');
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('heading', { name: 'Release', exact: true }).waitFor();
    const document = `query($id: ID!) { organization(id: $id) { sessions(first: 1) { nodes {
      title playbook { title } messages(first: 1) { nodes { body } } } } } }`;
    const { data } = await graphql(all.test, token, document, { id: organizationId });
    const [session] = data.organization.sessions.nodes;
    expect(session).toMatchObject({ title: 'Release', playbook: { title: 'Release' } });
    expect(session.messages.nodes[0].body).toBe('Values for the playbook:\n\n- service: api\n- version: 1.2 <b>');
    expect(consoleErrors).toEqual([]);
  });

  it('changes the fields with the choice, and a playbook without placeholders has none', async () => {
    const { organizationId, token } = await makeOrganization(all.test, 'Choices');
    await makePlaybook(organizationId, 'Plain', 'Use \u0024{{ secrets.TOKEN }} of the workflow.');
    await makePlaybook(organizationId, 'Asking', 'Look at {{ticket}}.');
    const { page } = await all.open('/sessions?new=yes', token);
    const dialog = page.getByRole('dialog', { name: 'New session' });
    const choose = async (title: string) => {
      await dialog.getByRole('combobox', { name: 'Playbook' }).click();
      await page.getByRole('option', { name: title, exact: true }).click();
    };
    await choose('Asking');
    await dialog.getByLabel('ticket').waitFor();
    const text = dialog.getByText('Look at {{ticket}}.', { exact: true });
    expect(await text.isVisible()).toBe(false);
    await dialog.getByText('Show playbook', { exact: true }).click();
    await text.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await choose('Plain');
    await dialog.getByLabel('ticket').waitFor({ state: 'detached' });
    await dialog.getByText('Show playbook', { exact: true }).click();
    await dialog.getByText('of the workflow.').waitFor();
    await dialog.getByRole('button', { name: 'Start' }).click();
    await dialog.getByLabel('Prompt').and(page.locator('[aria-invalid="true"]')).waitFor();
  });
});
