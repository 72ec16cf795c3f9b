// npx tsx bench/live-console.ts [KB]: opens a session in this machine's browser and streams a text of this size (60) to it, in
// parts of 64 characters. Prints the main thread's CPU time for each of the last parts, divided into script, styles and layout: of a
// message, a thought, and the output of a tool. Build the console first.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CDPSession, chromium as driver } from 'playwright-core';
import { createApp } from '../src/app.ts';
import { readConfig } from '../src/config/config.ts';
import { writeDraftMessage } from '../src/domain/sessions/live/draft-message.ts';
import { appendEntries } from '../src/domain/sessions/log.ts';
import { chromium } from '../test/support/browser.ts';
import { openConsole } from './support/console-page.ts';

const length = Number(process.argv[2] ?? 60) * 1_000;
/** Only the rows whose name contains this. */
const only = process.argv[3] ?? '';
/** The number of parts that are measured, at the end of the text. */
const measured = 40;
const partLength = 64;

const sentence = 'The tests of the store pass, but the index of the second table is missing. ';
const shapes = {
  'paragraphs': `${sentence.repeat(5)}\n\n`,
  'lists': `Steps of the change:\n\n${`- ${sentence}\n`.repeat(6)}\n`,
  'one list': `- ${sentence}\n`,
  'one paragraph': sentence,
  'one code block': `const text = "${sentence}";\n`,
} as const;
const texts = Object.entries(shapes).map(([name, unit]) => {
  const start = name === 'one code block' ? '```ts\n' : '';
  return { name, text: (start + unit.repeat(Math.ceil(length / unit.length))).slice(0, length) };
});

const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
const config = readConfig({ PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', ROLES: 'api', LOG_LEVEL: 'error' });
const app = await createApp({ ...config, rateLimitGraphql: 0 });
const { url } = await app.start();
const { services } = app;
const { adminToken: token = '', organizationId = '' } = app.installation.firstStart ?? {};

async function createSession(): Promise<string> {
  const query = `mutation { createSession(input: {organizationId: "org-${organizationId}", prompt: "Wait"}) { session { sessionId } } }`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const { data } = (await response.json()) as { data: { createSession: { session: { sessionId: string } } } };
  return data.createSession.session.sessionId.replace('devin-', '');
}

const names = {
  TaskDuration: 'all',
  ScriptDuration: 'script',
  RecalcStyleDuration: 'styles',
  LayoutDuration: 'layout',
};
async function durations(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value * 1_000]));
}

const browser = await driver.launch({ executablePath: chromium as string, args: ['--no-sandbox'] });
try {
  const page = await openConsole(browser, url, token);
  const devtools = await page.context().newCDPSession(page);
  // The time that the thread ran, so that other programs do not count.
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const frames = () =>
    page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))),
    );

  async function measure(kind: 'message' | 'thought' | 'tool_output', name: string, text: string): Promise<void> {
    const id = await createSession();
    const toolCallId = kind === 'tool_output' ? 'c1' : null;
    if (toolCallId !== null) {
      const data = {
        toolCallId,
        title: 'npm test',
        toolKind: 'execute',
        status: 'in_progress',
        output: null,
        locations: [],
        diffs: [],
      };
      await appendEntries(services.store, id, null, [{ kind: 'TOOL_CALL', data }], services.now());
    }
    await page.goto(`/sessions/${id}`);
    await page.getByRole('log').waitFor();
    const draftId = id;
    let offset = 0;
    const write = (to: number) => {
      const part = { text: text.slice(offset, to), isDone: false, isTruncated: false };
      const message = { generation: 1, draftId, kind, toolCallId, version: 0, offset, ...part };
      services.broadcaster.publish('draft', id, writeDraftMessage(message));
      offset = to;
    };
    // Until the page watches the session, parts are lost.
    const hasRow = () => page.evaluate(() => document.querySelector('.message.agent, .thought, .terminal') !== null);
    while (!(await hasRow())) {
      offset = 0;
      write(100);
      await frames();
    }
    const from = text.length - measured * partLength;
    for (let to = 4_000; to < from; to += 4_000) write(to);
    write(from);
    if (kind === 'tool_output') await page.getByRole('button', { name: /^Show all/ }).click();
    if (kind === 'thought') await page.locator('.thought summary').click();
    await page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll('.message .markdown, .thought .markdown, .terminal')].some(
          ({ textContent }) => (textContent?.length ?? 0) > wanted,
        ),
      Math.min(25_000, from * 0.8),
    );
    // The first measurements of the row.
    for (let n = 0; n < 10; n++) await frames();
    // As many parts as in two seconds, 50 ms apart; slow text is shown less often.
    const costs = async (act: () => void) => {
      const before = await durations(devtools);
      for (let n = 0; n < measured; n++) {
        act();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await frames();
      const after = await durations(devtools);
      return (key: string) => ((after[key] ?? 0) - (before[key] ?? 0)) / measured;
    };
    const idle = await costs(() => undefined);
    const busy = await costs(() => write(offset + partLength));
    const figures = Object.entries(names).map(([key, label]) => `${label} ${(busy(key) - idle(key)).toFixed(1)}`);
    console.log(`${kind.padEnd(12)} ${name.padEnd(15)} ${figures.join(', ')} ms for each part`);
  }
  for (const { name, text } of texts) {
    for (const kind of ['message', 'thought', 'tool_output'] as const) {
      if (kind === 'thought' && name !== 'paragraphs') continue;
      if (kind === 'tool_output' && !name.includes('code')) continue;
      if (`${kind} ${name}`.includes(only)) await measure(kind, name, text);
    }
  }
} finally {
  await browser.close();
  await app.stop();
  await rm(dataDir, { recursive: true, force: true });
}
