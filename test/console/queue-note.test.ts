import { describe, expect, it } from 'vitest';
import { missing, useConsole } from '../support/console-browser.ts';
import { appendToLog, createSession } from '../support/sessions.ts';

describe.skipIf(missing !== null)('a session that waits', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });
  const run = (sql: string, values: unknown[]) => all.test.app.services.store.execute(sql, values);
  const bare = (id: string) => id.replace('devin-', '');

  it('says its position in the queue, and how many sessions keep their workers', async () => {
    await createSession(all.test, { prompt: 'First' });
    const id = await createSession(all.test, { prompt: 'Second', title: 'The second' });
    const window = await all.open(`/sessions/${id}`);
    const { page } = window;
    await page.getByText('No worker is free. Position in the queue: 2.').waitFor();
    const asking = await createSession(all.test, { prompt: 'Third' });
    await run(`update session set status = 'running', status_detail = 'waiting_for_user' where id = $1`, [
      bare(asking),
    ]);
    await page.getByText('is waiting for you and may occupy a worker.').waitFor();
    await window.pictures('session-queue-note');
    await page.getByRole('link', { name: 'A session', exact: true }).click();
    await page.getByRole('link', { name: 'Third' }).waitFor();
    expect(new URL(page.url()).search).toBe('?state=attention');
    expect(window.consoleErrors).toEqual([]);
  });

  it('says that no worker is free only after a second reading', async () => {
    await createSession(all.test, { prompt: 'Before' });
    const id = await createSession(all.test, { prompt: 'Waits', title: 'The one that waits' });
    const { page } = await all.open('/usage');
    let readings = 0;
    let release: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/graphql', async (route) => {
      const isReading = route.request().postData()?.includes('query queueNoteQuery') === true;
      if (isReading && ++readings > 1) await isReleased;
      await route.continue();
    });
    const isReadAgain = () => page.waitForRequest((request) => request.postData()?.includes('queueNoteQuery') === true);
    const first = isReadAgain();
    await page.goto(`/sessions/${id}`);
    await (await first).response();
    await isReadAgain();
    const note = page.getByText('No worker is free.');
    expect(await note.count()).toBe(0);
    release();
    await note.waitFor();
  });

  it('shows a message to a stopped session as queued', async () => {
    const id = await createSession(all.test, { prompt: 'Stopped', title: 'The stopped one' });
    await appendToLog(
      all.test,
      id,
      { kind: 'TURN', data: { turn: 1, phase: 'started' } },
      { kind: 'TURN', data: { turn: 1, phase: 'stopped', stopReason: 'cancelled' } },
    );
    await run(`update session set status = 'running', status_detail = 'waiting_for_user' where id = $1`, [bare(id)]);
    await run('update run set queued_at = null, delivered_seq = 100 where session_id = $1', [bare(id)]);
    const { page, consoleErrors } = await all.open(`/sessions/${id}`);
    const badge = page.locator('.session-name').getByRole('status');
    await badge.getByText('Needs you').waitFor();
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await run('update run set delivered_seq = 0 where session_id = $1', [bare(id)]);
    await page.getByLabel('Message to the agent').fill('Go on');
    await page.keyboard.press('Enter');
    await badge.getByText('Resuming').waitFor();
    await page.getByText(/No worker is free\. Position in the queue: \d+\./).waitFor();
    expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
    expect(consoleErrors).toEqual([]);
  });

  it('says that a failed agent starts again', async () => {
    const id = await createSession(all.test, { prompt: 'Work' });
    await run(`update session set status = 'running', status_detail = 'working' where id = $1`, [bare(id)]);
    const { page } = await all.open(`/sessions/${id}`);
    await page.getByText('The agent is working.').waitFor();
    await appendToLog(all.test, id, {
      kind: 'NOTICE',
      body: 'The agent ended unexpectedly. Trying again in 5 s.',
      data: { code: 'agent_failed' },
    });
    await page.getByText('The agent failed and will restart soon.').waitFor();
    await appendToLog(all.test, id, { kind: 'THOUGHT', body: 'Here I am' });
    await page.getByText('The agent is working.').waitFor();
  });
});
