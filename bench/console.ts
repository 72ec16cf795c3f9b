// npx tsx bench/console.ts [entries] [live]: opens a session with many entries (50,000) in this machine's browser,
// scrolls it, and then adds further entries (20,000: an hour of five or six per second) as fast as possible. Prints the
// time until the first message is visible, the slowest frame while scrolling, and the memory of the page. Build first.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as driver } from 'playwright-core';
import { createApp } from '../src/app.ts';
import { readConfig } from '../src/config/config.ts';
import { appendEntries } from '../src/domain/sessions/log.ts';
import { chromium } from '../test/support/browser.ts';
import { openConsole } from './support/console-page.ts';

const entries = Number(process.argv[2] ?? 50_000);
const live = Number(process.argv[3] ?? 20_000);
const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
const config = readConfig({ PATH: process.env.PATH, DATA_DIR: dataDir, PORT: '0', ROLES: 'api', LOG_LEVEL: 'error' });
const app = await createApp({ ...config, rateLimitGraphql: 0 });
const { url } = await app.start();
const { services } = app;
const { adminToken: token = '', organizationId = '' } = app.installation.firstStart ?? {};

const ask = async (query: string) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return ((await response.json()) as { data: { createSession: { session: { url: string } } } }).data;
};
const made = await ask(
  `mutation { createSession(input: {organizationId: "org-${organizationId}", prompt: "say hello"}) { session { url } } }`,
);
const path = new URL(made.createSession.session.url).pathname;
const id = path.split('/').at(-1) ?? '';

const text = (n: number) =>
  `Message ${n}: **bold**, \`code\`, and a few words more, so that it is as long as most of them are.\n\n- one\n- two`;
async function write(count: number, from: number): Promise<void> {
  for (let n = from; n < from + count; n += 500) {
    const batch = Array.from({ length: Math.min(500, from + count - n) }, (_, k) => n + k);
    await appendEntries(
      services.store,
      id,
      null,
      batch.map((k) => ({ kind: 'MESSAGE', messageType: 'agent_message', body: text(k) }) as const),
      services.now(),
    );
    services.notifier.notify(`session:${id}`);
  }
}
await write(entries, 0);

const browser = await driver.launch({
  executablePath: chromium as string,
  args: ['--no-sandbox', '--enable-precise-memory-info'],
});
try {
  const page = await openConsole(browser, url, token);
  const heap = async () => {
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return `${(usedSize / 1_000_000).toFixed(1)} MB`;
  };
  for (const name of ['cold', 'warm']) {
    if (name === 'cold') await (await page.context().newCDPSession(page)).send('Network.clearBrowserCache');
    const at = performance.now();
    await page.goto(path);
    await page
      .getByRole('log')
      .getByText(`Message ${entries - 1}:`)
      .waitFor();
    console.log(`First message on screen, ${name}: ${Math.round(performance.now() - at)} ms`);
  }
  console.log(`In memory when opened: ${await heap()}; rows in the page: ${await page.locator('.row').count()}`);
  const scrolled = await page.getByRole('log').evaluate(
    (box) =>
      new Promise<{ frames: number; slowest: number; late: number }>((resolve) => {
        const times: number[] = [];
        let last = performance.now();
        const step = (now: number) => {
          times.push(now - last);
          last = now;
          box.scrollTop = Math.max(0, box.scrollTop - 120);
          if (times.length < 600) return requestAnimationFrame(step);
          resolve({
            frames: times.length,
            slowest: Math.max(...times),
            late: times.filter((each) => each > 50).length,
          });
          return 0;
        };
        requestAnimationFrame(step);
      }),
  );
  console.log(
    `Scrolling 72,000 pixels up: ${scrolled.frames} frames, slowest ${Math.round(scrolled.slowest)} ms, over 50 ms: ${scrolled.late}`,
  );
  await page.getByRole('button', { name: 'Jump to latest' }).click();
  const at = performance.now();
  await write(live, entries);
  await page
    .getByRole('log')
    .getByText(`Message ${entries + live - 1}:`)
    .waitFor({ timeout: 300_000 });
  console.log(
    `${live} entries live: all shown after ${((performance.now() - at) / 1_000).toFixed(1)} s; in memory ${await heap()}`,
  );
} finally {
  await browser.close();
  await app.stop();
  await rm(dataDir, { recursive: true, force: true });
}
