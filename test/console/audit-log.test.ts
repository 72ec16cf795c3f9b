import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { missing, useConsole } from '../support/console-browser.ts';
import { runMutation } from '../support/people.ts';
import { createSession } from '../support/sessions.ts';

describe.skipIf(missing !== null)('the audit log', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  it('names sessions by their titles and automations by their names, and fits into windows of any width', async () => {
    const { test } = all;
    const id = await createSession(test, { title: 'Write **the** notes' });
    await runMutation(test, 'sendMessage', 'message { id }', { sessionId: id, body: 'Also those of May.' });
    await runMutation(test, 'updateSession', 'session { id }', { sessionId: id, tags: ['docs'] });
    await runMutation(test, 'archiveSession', 'session { id }', { sessionId: id });
    const { organizationId } = test;
    const { automation } = await createAutomation(test, { organizationId, name: 'Nightly' }, test.adminToken);
    await runMutation(test, 'runAutomation', 'run { status }', { automationId: automation.automationId });
    const playbook = (title: string) =>
      runMutation(test, 'createPlaybook', 'playbook { playbookId }', {
        ...{ scope: { organizationId }, title, body: 'Do it.' },
      });
    await playbook('Release the service');
    const gone = (await playbook('Deleted later')).playbook.playbookId;
    await runMutation(test, 'deletePlaybook', 'deletedPlaybookId', { playbookId: gone });
    const { page, picture, consoleErrors } = await all.open('/manage/audit-log');
    const rows = page.getByRole('row');
    await rows.getByText('Release the service').waitFor();
    let queries = 0;
    page.on('request', (request) => {
      if (request.postData()?.includes('useTargetNamesQuery')) queries += 1;
    });
    await page.reload();
    await rows.filter({ hasText: 'Create playbook' }).getByText('Release the service').waitFor();
    await rows.filter({ hasText: 'Delete playbook' }).getByText(gone).waitFor();
    expect(queries).toBe(1);
    const time = await rows.filter({ hasText: 'Delete playbook' }).locator('time').textContent();
    expect(time).toMatch(/^\w{3} \d{1,2}, \d{4}, \d{1,2}:\d{2}\s[AP]M(just now|\dm ago)$/);
    await page.getByRole('combobox', { name: 'Action', exact: true }).click();
    const actions = await page.getByRole('listbox').getByRole('option').allTextContents();
    expect(actions.length).toBeGreaterThan(5);
    expect(actions.slice(1)).toEqual(actions.slice(1).toSorted((one, other) => one.localeCompare(other)));
    await page.keyboard.press('Escape');
    for (const action of ['Send message', 'Change title or tags of session', 'Archive session']) {
      await rows.filter({ hasText: action }).getByRole('link', { name: 'Write the notes' }).first().waitFor();
    }
    const ofAutomation = rows.filter({ hasText: 'Automation: Nightly' });
    await ofAutomation.getByText('Create session').waitFor();
    expect(await page.getByRole('table').textContent()).not.toMatch(/event-[0-9a-f]/);
    for (const width of [1_280, 800, 720, 641, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await picture('audit-log');
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(overflow, `at ${width}`).toBeLessThanOrEqual(0);
      const boxes = await page.locator('.tool-row .field').evaluateAll((fields) =>
        fields
          .flatMap((field) => [...field.querySelectorAll('input, select')])
          .map((each) => {
            const { left, right, top, bottom } = each.getBoundingClientRect();
            return { left, right, top, bottom };
          }),
      );
      const overlaps = boxes.flatMap((one, n) =>
        boxes
          .slice(n + 1)
          .filter(
            (other) =>
              one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom,
          ),
      );
      expect(overlaps, `at ${width}`).toEqual([]);
    }
    await page.setViewportSize({ width: 1_280, height: 800 });
    await rows.filter({ hasText: 'Archive session' }).getByRole('link', { name: 'Write the notes' }).click();
    await page.getByRole('heading', { name: 'Write the notes' }).waitFor();
    expect(consoleErrors).toEqual([]);
    const { data } = await graphql(test, test.adminToken, 'query($id: ID!) { session(id: $id) { isArchived } }', {
      id,
    });
    expect(data.session.isArchived).toBe(true);
  });
});
