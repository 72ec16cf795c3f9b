import { setTimeout as wait } from 'node:timers/promises';
import { chromium as driver, type Page } from 'playwright-core';
import { chromium } from '../test/support/browser.ts';
import { ensureConsole } from '../test/support/built.ts';
import type { Bench } from './support/bench.ts';
import { openConsole } from './support/console-page.ts';
import type { Row } from './support/measures.ts';
import { seed } from './support/seed.ts';

/** The last entry is a message: every fifth one is a tool call. */
const entriesEach = 299;
/** As many as the list shows at first. */
const sessions = 50;

/** The ways to open a session, and the time in ms that the pointer or the focus stays on its link before. */
const ways = [
  ['open-session/hover', 'pointer', 150],
  ['open-session/click', 'pointer', 0],
  ['open-session/keyboard', 'keyboard', 150],
] as const;

/** The time from the click on a session in the console's list to the frame that shows the end of its transcript. */
export async function measureOpenSession(bench: Bench): Promise<Row[]> {
  if (chromium === null) {
    bench.progress('  open-session: skipped, because there is no Chromium here');
    return ways.map(([name]) => ({ name, value: null, note: 'Not measured: there is no Chromium here.' }));
  }
  if (bench.options.dist === null) await ensureConsole();
  const database = await bench.createDatabase();
  const server = await bench.startServer(database);
  await seed(database.client, { organizationId: server.organizationId, sessions, entriesEach });
  await database.client.query(text);
  // The list shows no archived ones.
  await database.client.query('update session set is_archived = false');
  const rows: Row[] = [];
  for (const [name, way, stayMs] of ways) {
    const browser = await driver.launch({ executablePath: chromium, args: ['--no-sandbox'] });
    bench.defer(() => browser.close());
    const page = await openConsole(browser, server.url, server.token);
    await record(page);
    const count = bench.options.isQuick ? 15 : sessions;
    const times: number[] = [];
    for (let n = 0; n < count; n++) times.push(await open(page, n, way, stayMs));
    await browser.close();
    rows.push(rowOf(bench, name, times));
  }
  return rows;
}

/** Gives the messages the length of those of agents: a paragraph, a list and some code. */
const text = `update log_entry set body = body || E'\\n\\nThe **tests** of the store pass, but the index of the second table is missing.\\n\\n- one\\n- two\\n\\n'
  || E'\`\`\`ts\\nconst index = new Map();\\nindex.set(key, value);\\n\`\`\`' where kind = 'MESSAGE'`;

/** Opens a session of the list, and returns to the list. Returns the time in ms from the click to the transcript. */
async function open(page: Page, index: number, way: 'pointer' | 'keyboard', stayMs: number): Promise<number> {
  const link = page.locator('ul.sessions [data-list-item]').nth(index);
  await link.waitFor();
  if (way === 'pointer') {
    await page.mouse.move(5, 5);
    await link.scrollIntoViewIfNeeded();
    const box = await link.boundingBox();
    if (box === null) throw new Error('The list does not show the session.');
    await page.mouse.move(box.x + 10, box.y + box.height / 2);
    if (stayMs > 0) await wait(stayMs);
    await page.mouse.down();
    await page.mouse.up();
  } else {
    await link.focus();
    await wait(stayMs);
    await page.keyboard.press('Enter');
  }
  const took = await page.evaluate(() => (globalThis as unknown as Recorder).nextOpening());
  await wait(300);
  await page.goBack();
  return took;
}

interface Recorder {
  /** Resolves to the time in ms from the last click until the frame that shows the end of the transcript. */
  nextOpening(): Promise<number>;
}

async function record(page: Page): Promise<void> {
  await page.evaluate((last) => {
    let clickedAt = 0;
    document.addEventListener('click', (event) => (clickedAt = event.timeStamp), { capture: true });
    const isShown = () => {
      const message = document.querySelector(`#main [role="log"] [data-seq="${last}"]`);
      const rect = message?.getBoundingClientRect();
      return rect !== undefined && rect.height > 0 && rect.top < innerHeight && rect.bottom > 0;
    };
    let opening: { at: number } | null = null;
    let waiting: ((ms: number) => void) | null = null;
    // After the callbacks of a frame have changed the page, the frame is painted.
    const look = () => {
      requestAnimationFrame(look);
      const painted = new MessageChannel();
      painted.port1.onmessage = () => {
        if (clickedAt === 0 || !isShown()) return;
        opening = { at: performance.now() - clickedAt };
        clickedAt = 0;
        waiting?.(opening.at);
        if (waiting) opening = null;
        waiting = null;
      };
      painted.port2.postMessage(null);
    };
    requestAnimationFrame(look);
    const nextOpening = () =>
      new Promise<number>((resolve) => {
        if (opening) resolve(opening.at);
        else waiting = resolve;
        opening = null;
      });
    Object.assign(globalThis, { nextOpening });
  }, entriesEach);
}

function rowOf(bench: Bench, name: (typeof ways)[number][0], times: readonly number[]): Row {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN;
  const note = `p50 ${at(0.5).toFixed(0)} ms, p95 ${at(0.95).toFixed(0)} ms, most ${at(1).toFixed(0)} ms, of ${times.length} sessions`;
  bench.progress(`  ${name}: ${note}`);
  return { name, value: at(0.95), note };
}
