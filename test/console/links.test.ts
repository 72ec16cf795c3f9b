import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { missing, openBrowser, openSignedIn, seriousFindings } from '../support/console-browser.ts';
import { createSession, say } from '../support/sessions.ts';

describe.skipIf(missing !== null)('links in the text of an agent', { timeout: 240_000 }, () => {
  let test: TestApp;
  let browser: Browser;
  beforeAll(async () => {
    test = await startApp();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await test?.close();
  });

  it('show their destination if their text names another host', async () => {
    const session = await createSession(test, { title: 'Links' }, test.v1Key);
    const text = [
      '[https://bank.example](https://evil.example/login)',
      '[https://**bank**.example](https://evil2.example)',
      '[bank\u200b.example](https://evil3.example)',
      '[\u202eelpmaxe.knab](https://evil4.example) behind it',
      '[![bank.example](https://pictures.example/a.png)](https://evil5.example)',
      '<https://bank.example@evil6.example/>',
      `[${test.url}](http://localhost:1/)`,
      '[the documentation](https://docs.example/)',
      '[docs.example](https://docs.example/a)',
      'https://docs.example/a/b.html',
    ];
    await say(test, session, text.join('\n\n'));
    const window = await openSignedIn(browser, test, test.adminToken);
    const { page, consoleErrors: pageErrors } = window;
    await page.goto(`/sessions/${session}`);
    await page.getByRole('link', { name: 'the documentation' }).waitFor();
    expect(await page.locator('.destination').allTextContents()).toEqual([
      'leads to evil.example',
      'leads to evil2.example',
      'leads to evil3.example',
      'leads to evil4.example',
      'leads to pictures.example',
      'leads to evil5.example',
      'leads to evil6.example',
      'leads to localhost:1',
    ]);
    // Bidirectional characters end with the link.
    const [turned, behind] = await page.evaluate(() => {
      const paragraph = [...document.querySelectorAll('.markdown p')].find((each) =>
        each.textContent?.includes('behind it'),
      );
      const left = (node: Node) => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return range.getBoundingClientRect().left;
      };
      const shown = paragraph?.querySelector('.destination');
      return [left(shown as Node), left(shown?.nextSibling as Node)];
    });
    expect(turned).toBeLessThan(behind as number);
    expect(await seriousFindings(page)).toEqual([]);
    await window.pictures('links');
    expect(pageErrors).toEqual([]);
    await page.context().close();
  });
});
