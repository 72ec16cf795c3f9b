import type { Browser, Page } from 'playwright-core';

/** Opens the console at its list of sessions, signed in with a token. */
export async function openConsole(browser: Browser, url: string, token: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: url, viewport: { width: 1_280, height: 800 } })).newPage();
  // tsx wraps functions with a helper of its own, also those that run in the page.
  await page.addInitScript({ content: 'globalThis.__name = (named) => named;' });
  await page.goto('/sessions');
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  return page;
}
