import { expect, it } from 'vitest';
import { chromium, openPage } from '../support/browser.ts';
import { createSession } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const open = (path = '/graphql', headers: Record<string, string> = {}) =>
  fetch(test.url + path, { headers: { accept: 'text/html,*/*;q=0.8', ...headers } });

it('is a page for browsers that needs no token and reveals nothing', async () => {
  const response = await open();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const html = await response.text();
  expect(html).toMatch(/<title>[^<]*Switchyard/);
  for (const secret of [test.adminToken, test.v1Key, test.organizationId]) expect(html).not.toContain(secret);
});

it('loads nothing from another host, and its policy forbids it', async () => {
  const response = await open();
  const policy = response.headers.get('content-security-policy')?.split('; ');
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'"]));
  expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin');
  const html = await response.text();
  const loaded = [...html.matchAll(/\b(?:src|href|action|data)="([^"]+)"/g)].map(([, address]) => address as string);
  expect(loaded.length).toBeGreaterThan(3);
  expect(loaded.filter((address) => !/^(?:\/graphql\/explorer\/|data:,$)/.test(address))).toEqual([]);
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
});

it('serves its scripts from addresses that browsers cache permanently, and no others', async () => {
  const [folder] = /\/graphql\/explorer\/[0-9a-f]+/.exec(await (await open()).text()) as unknown as [string];
  for (const name of ['graphiql.js', 'graphiql.css', 'page.js', 'editor.worker.js', 'json.worker.js']) {
    const response = await fetch(`${test.url}${folder}/${name}`);
    expect(response.status, name).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await response.text()).length).toBeGreaterThan(100);
  }
  for (const path of [`${folder}/constructor`, `${folder}/page.js/x`, '/graphql/explorer/0/page.js', folder]) {
    expect((await fetch(test.url + path)).status, path).toBe(404);
  }
});

it('is served to a browser even if the address has a query, as earlier versions wrote it', async () => {
  const query = `/graphql?query=${encodeURIComponent('{ __typename }')}`;
  const response = await open(query);
  expect({ status: response.status, type: response.headers.get('content-type') }).toEqual({
    status: 200,
    type: 'text/html; charset=utf-8',
  });
  expect(await response.text()).not.toContain('__typename');
});

it('is not served to clients that accept JSON or send a token', async () => {
  expect((await fetch(`${test.url}/graphql`, { headers: { accept: 'application/json' } })).status).toBe(401);
  const query = `/graphql?query=${encodeURIComponent('{ __typename }')}`;
  const response = await open(query, { authorization: `Bearer ${test.adminToken}` });
  expect(await response.json()).toMatchObject({ data: { __typename: 'Query' } });
});

it.skipIf(chromium === null)(
  'accepts a token in a field, runs a query with it, and stores neither in the address nor in the browser',
  { timeout: 120_000 },
  async () => {
    const page = await openPage();
    try {
      const messageText = `document.getElementById('said').textContent`;
      const use = async (token: string) => {
        await page.run(`document.getElementById('token').value = ${JSON.stringify(token)}`);
        await page.run(`document.querySelector('#key button').click()`);
      };
      // The editor writes non-breaking spaces.
      const result = `(document.querySelector('.result-window')?.innerText ?? '').replaceAll('\u00a0', ' ')`;
      const execute = `document.querySelector('button[aria-label^="Execute"]').click()`;

      await page.open(`${test.url}/graphql?query=${encodeURIComponent('{ viewer { principalType } } # c4n4ry-typed')}`);
      await page.waitFor(`document.querySelector('.view-line')`);
      expect(await page.run('location.href')).toBe(`${test.url}/graphql`);
      await page.run(execute);
      await page.waitFor(`(${result}).includes('Put your token')`);

      await use('cog_none');
      await page.waitFor(`(${messageText}).includes('unknown, expired or revoked')`);
      await use(test.adminToken);
      await page.waitFor(`(${messageText}).startsWith('Signed in')`);
      await page.run(execute);
      await page.waitFor(`(${result}).includes('SERVICE_USER')`);
      // The schema is loaded without another click.
      await page.run(`document.querySelector('button[aria-label="Show Documentation Explorer"]').click()`);
      await page.waitFor(
        `/query:\\s*Query/.test(document.querySelector('.graphiql-doc-explorer-content')?.innerText ?? '')`,
      );

      await page.run(
        `document.querySelector('.graphiql-editor textarea, .graphiql-editor .native-edit-context').focus()`,
      );
      await page.type('# c4n4ry-edited ');
      await page.waitFor(`JSON.stringify({ ...sessionStorage }).includes('c4n4ry-edited')`);
      expect(await page.run('location.href')).toBe(`${test.url}/graphql`);
      expect(await page.run('JSON.stringify({ ...localStorage })')).not.toMatch(/c4n4ry|cog_/);
      expect(await page.run('JSON.stringify({ ...sessionStorage }) + document.cookie')).not.toContain('cog_');
      // The refused token, and nothing that the page's policy forbids.
      expect(page.consoleErrors.filter((each) => !each.includes('401'))).toEqual([]);
    } finally {
      await page.close();
    }
  },
);

it.skipIf(chromium === null)(
  'runs a subscription without its text and variables in any address',
  { timeout: 120_000 },
  async () => {
    const page = await openPage();
    try {
      const document = 'subscription { sessionChanges { type session { title } } }';
      await page.open(`${test.url}/graphql?query=${encodeURIComponent(document)}`);
      await page.waitFor(`document.querySelector('.view-line')`);
      await page.run(`document.getElementById('token').value = ${JSON.stringify(test.adminToken)}`);
      await page.run(`document.querySelector('#key button').click()`);
      await page.waitFor(`document.getElementById('said').textContent.startsWith('Signed in')`);
      await page.run(`document.querySelector('button[aria-label^="Execute"]').click()`);
      await page.waitFor(`document.querySelector('button[aria-label^="Stop"]')`);
      const result = `document.querySelector('.result-window')?.innerText ?? ''`;
      // It receives events after its start, which the page does not show.
      await expect
        .poll(
          async () => {
            await createSession(test, { prompt: 'say hello', title: 'followed' });
            return page.run(result);
          },
          { interval: 500 },
        )
        .toMatch(/"ADDED"[\s\S]*followed/);
      expect(
        await page.run(`performance.getEntriesByType('resource').map(({ name }) => name).join(' ')`),
      ).not.toContain('sessionChanges');
      expect(page.consoleErrors).toEqual([]);
    } finally {
      await page.close();
    }
  },
);
