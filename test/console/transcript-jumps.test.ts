import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { missing, openSignedIn, seriousFindings, useConsole } from '../support/console-browser.ts';
import { sayMany } from '../support/many-sessions.ts';
import { appendToLog, createSession, say, toolCall } from '../support/sessions.ts';

describe.skipIf(missing !== null)('a long transcript', { timeout: 240_000 }, () => {
  const all = useConsole({ roles: ['api'] });

  const open = (at: string) => all.open(at);
  const message = (page: Page, text: string) => page.getByRole('log').getByText(text, { exact: true });
  /** True if the message is rendered within the visible part of the transcript. */
  const isInView = async (page: Page, text: string) => {
    const [box, log] = [
      await message(page, text)
        .boundingBox({ timeout: 100 })
        .catch(() => null),
      await page.getByRole('log').boundingBox(),
    ];
    return box !== null && log !== null && box.y >= log.y && box.y + box.height <= log.y + log.height + 1;
  };
  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '');

  it('folds finished tool calls, and shows failed ones', async () => {
    const id = await createSession(all.test, { prompt: 'Build it', title: 'Folded' });
    await say(all.test, id, 'I look at it.');
    await appendToLog(
      all.test,
      id,
      ...[1, 2, 3].map((n) => toolCall(n)),
      toolCall(4, { title: 'Edit a.ts', toolKind: 'edit', diffs: [{ path: 'a.ts', oldText: '', newText: 'a\n' }] }),
      toolCall(5, { status: 'failed', output: 'No such file' }),
      toolCall(6),
    );
    await say(all.test, id, 'Done.');
    const window = await open(`/sessions/${id}`);
    const { page } = window;
    const fold = page.locator('summary', { hasText: 'Ran 3 commands, edited 1 file' });
    await fold.waitFor();
    expect(await page.getByText('npm run step-2').count()).toBe(0);
    await page.getByText('npm run step-5').waitFor();
    await page.getByText('failed', { exact: true }).waitFor();
    await page.getByText('Today', { exact: true }).waitFor();
    await window.pictures('session-folded');
    await fold.click();
    await page.getByText('npm run step-2').click();
    await page.getByText('output 2').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('session-unfolded');
    expect(window.consoleErrors).toEqual([]);
  });

  it('opens at an entry far back, and goes on from there to its end and its start', async () => {
    const id = await createSession(all.test, { prompt: 'Write much', title: 'Far back' });
    await sayMany(all.test, id, 400);
    const first = await open(`/sessions/${id}`);
    await message(first.page, 'm399').waitFor();
    // Navigation within the console sets the focus on the heading.
    await first.page.getByRole('heading', { level: 1 }).focus();
    await first.page.keyboard.press('Home');
    await message(first.page, 'Write much').waitFor();
    await first.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const row = first.page.locator('.row', { has: first.page.getByText('m8', { exact: true }) });
    await row.scrollIntoViewIfNeeded();
    await row.hover();
    await row.getByRole('button', { name: 'Copy link to this entry' }).click();
    await first.page.getByText('Copied.').waitFor();
    const link = new URL(await first.page.evaluate(() => navigator.clipboard.readText()));
    expect(link.pathname).toBe(`/sessions/${id}`);

    const { page, consoleErrors } = await open(link.pathname + link.search);
    await message(page, 'm8').waitFor();
    await expect.poll(() => focused(page)).toContain('m8');
    // A new entry belongs to the end, which is not shown.
    await say(all.test, id, 'written meanwhile');
    expect(await message(page, 'm399').count()).toBe(0);
    // The parts before and after it are loaded on scrolling.
    const log = page.getByRole('log');
    await log.evaluate((box) => box.scrollTo(0, 0));
    await message(page, 'Write much').waitFor();
    await page.getByRole('button', { name: 'Jump to latest' }).click();
    await message(page, 'written meanwhile').waitFor();
    await say(all.test, id, 'followed again');
    await message(page, 'followed again').waitFor();
    await page.keyboard.press('Home');
    await expect.poll(() => focused(page)).toContain('Write much');
    await page.keyboard.press('End');
    await message(page, 'followed again').waitFor();
    expect(consoleErrors).toEqual([]);
  });

  it('stays at the end if that is chosen while a jump to the start is loading', async () => {
    const id = await createSession(all.test, { prompt: 'Write much', title: 'Two jumps' });
    await sayMany(all.test, id, 250);
    const { page, consoleErrors } = await open(`/sessions/${id}`);
    await message(page, 'm249').waitFor();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('transcriptStorePageQuery')) await held;
      await route.continue();
    });
    const isRequested = page.waitForRequest((each) => each.postData()?.includes('transcriptStorePageQuery') ?? false);
    const isAnswered = page.waitForResponse(
      (each) => each.request().postData()?.includes('transcriptStorePageQuery') ?? false,
    );
    await page.getByRole('log').focus();
    await page.keyboard.press('Home');
    await isRequested;
    await page.keyboard.press('End');
    release();
    await (await isAnswered).finished();
    await say(all.test, id, 'still followed');
    await expect.poll(() => isInView(page, 'still followed')).toBe(true);
    expect(await message(page, 'm249').count()).toBe(1);
    // The jump that was replaced is no failure.
    expect(await page.getByText('This entry isn’t in the transcript.').count()).toBe(0);
    expect(consoleErrors).toEqual([]);
  });

  it('opens at the end of long messages that were loaded in advance', async () => {
    const id = await createSession(all.test, { prompt: 'Write much', title: 'Tall' });
    await say(all.test, id, ...Array.from({ length: 60 }, (_, n) => `${'A line of it.\n\n'.repeat(8)}\n\ntall ${n}`));
    const { page } = await open('/sessions');
    const link = page.getByRole('link', { name: 'Tall', exact: true });
    const isPreloaded = page.waitForResponse(
      (each) => each.request().postData()?.includes('sessionPageQuery') ?? false,
    );
    await link.hover();
    await (await isPreloaded).finished();
    await link.click();
    await expect.poll(() => isInView(page, 'tall 59')).toBe(true);
    await say(all.test, id, `${'More.\n\n'.repeat(8)}\n\ntall 60`);
    await expect.poll(() => isInView(page, 'tall 60')).toBe(true);
  });

  it('scrolls from a jump through all later parts to the end, without a gap', async () => {
    const id = await createSession(all.test, { prompt: 'Write much', title: 'Later parts' });
    await sayMany(all.test, id, 350);
    const { page } = await open(`/sessions/${id}`);
    await message(page, 'm349').waitFor();
    await page.keyboard.press('Home');
    await message(page, 'm0').waitFor();
    const seen = new Set<string>();
    const log = page.getByRole('log');
    await log.hover();
    await expect
      .poll(
        async () => {
          for (const text of await log.getByText(/^m\d+$/).allTextContents()) seen.add(text.trim());
          await page.mouse.wheel(0, 350);
          return seen.has('m349');
        },
        { timeout: 60_000, interval: 30 },
      )
      .toBe(true);
    expect(seen.size).toBe(350);
    await say(all.test, id, 'at the end');
    await message(page, 'at the end').waitFor();
  });

  it.each(['mouse', 'finger'])('has buttons beside the field for messages, not over it, for a %s', async (pointer) => {
    const id = await createSession(all.test, { prompt: 'Write much', title: 'Beside' });
    await sayMany(all.test, id, 60);
    const { page, picture } = await openSignedIn(all.browser, all.test, all.test.adminToken, {
      at: `/sessions/${id}`,
      hasTouch: pointer === 'finger',
    });
    onTestFinished(() => page.context().close());
    expect(await page.evaluate(() => matchMedia('(pointer: coarse)').matches)).toBe(pointer === 'finger');
    const search = page.getByRole('button', { name: 'Search the transcript' });
    const field = page.getByLabel('Message to the agent');
    await page.getByRole('button', { name: 'Next error' }).waitFor();
    for (const width of [320, 390, 768, 1_024, 1_280, 1_920]) {
      await page.setViewportSize({ width, height: 844 });
      const overlap = async () => {
        const [above, below] = [await search.boundingBox(), await field.boundingBox()];
        return (above?.y ?? 0) + (above?.height ?? 0) - (below?.y ?? 0);
      };
      await expect.poll(overlap, { message: String(width) }).toBeLessThanOrEqual(0);
      if (width === 390) await picture(`jumps-of-a-${pointer}`);
    }
  });

  it('jumps to the messages of the user and to errors, by keys and buttons', async () => {
    const id = await createSession(all.test, { prompt: 'First of mine', title: 'Jumps' });
    await sayMany(all.test, id, 150);
    await appendToLog(all.test, id, toolCall(1, { status: 'failed' }));
    await sayMany(all.test, id, 150);
    const window = await open(`/sessions/${id}`);
    const { page } = window;
    await message(page, 'm149').last().waitFor();
    await page.getByRole('button', { name: 'Your previous message' }).click();
    await expect.poll(() => focused(page)).toContain('First of mine');
    await window.pictures('session-jumps');
    await page.keyboard.press('e');
    await expect.poll(() => focused(page)).toContain('npm run step-1');
    await page.keyboard.press('p');
    await expect.poll(() => focused(page)).toContain('First of mine');
    await page.keyboard.press('m');
    await page.keyboard.press('r');
    await page.keyboard.type('me e');
    expect(await page.getByLabel('Message to the agent').inputValue()).toBe('me e');
  });
});
