import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { graphql } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, shownSeqs } from '../support/console-browser.ts';
import { writeProfiles } from '../support/profiles.ts';
import { bootstrapToken, freePort, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';

describe.skipIf(missing !== null)('a session’s page while its server is killed', { timeout: 300_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('continues without loss or repetition', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-console-'));
    onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }));
    const env = { DATA_DIR: dataDir, PORT: String(await freePort()), LOG_LEVEL: 'error', LEASE_SECONDS: '2' };
    // The agent waits after a line until its server is killed.
    const start = async (pauses: { PAUSE_5?: string; PAUSE_15?: string }) =>
      startServer({
        ...env,
        AGENTS_CONFIG: await writeProfiles({ env: { PAUSE_5: '0', PAUSE_15: '0', ...pauses } }),
      });
    let server = await start({ PAUSE_5: '600' });
    const { page } = await openSignedIn(browser, server, bootstrapToken);
    // All rows are rendered, at their total height.
    await page.setViewportSize({ width: 1_280, height: 12_000 });
    const prompt = Array.from(
      { length: 30 },
      (_, n) => `say line ${n}.\nsleep ${[5, 15].includes(n) ? `$PAUSE_${n}` : 0}`,
    ).join('\n');
    const organizationId = await firstOrganizationId(server, bootstrapToken);
    const runQuery = async (query: string) => (await graphql(server, bootstrapToken, query)).data;
    const made = await runQuery(
      `mutation { createSession(input: {organizationId: "${organizationId}", prompt: ${JSON.stringify(prompt)}}) { session { sessionId } } }`,
    );
    const { sessionId } = made.createSession.session;
    await page.goto(`/sessions/${sessionId}`);
    for (const [line, pauses] of [
      [5, { PAUSE_15: '600' }],
      [15, {}],
    ] as const) {
      await page.getByText(`line ${line}.`, { exact: true }).first().waitFor();
      await server.kill();
      await page.getByText('Connection lost').waitFor();
      server = await start(pauses);
      await page.getByText('Connection lost').waitFor({ state: 'hidden' });
    }
    await page.getByText('line 29.', { exact: true }).last().waitFor({ timeout: 60_000 });
    await page.getByText('Finished', { exact: true }).waitFor();
    const { session } = await runQuery(`{ session(id: "${sessionId}") { messages(first: 100) { nodes { seq } } } }`);
    const wanted = session.messages.nodes.map(({ seq }: { seq: number }) => seq);
    // The text of the agent before each kill is folded.
    const folds = page.getByText(/^Interrupted attempt: \d+ entr(?:y|ies)$/);
    await expect.poll(() => folds.count()).toBe(2);
    const folded = await shownSeqs(page);
    expect(folded.length).toBeLessThan(wanted.length);
    expect(wanted).toEqual(expect.arrayContaining(folded));
    for (const fold of await folds.all()) await fold.click();
    await expect.poll(() => shownSeqs(page)).toEqual(wanted);
    await page.context().close();
    await server.stop();
  });
});
