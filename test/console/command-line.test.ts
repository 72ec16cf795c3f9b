import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { graphql } from '../support/app.ts';
import { ensureBuilt } from '../support/built.ts';
import { missing, openSignedIn, seriousFindings, useConsole } from '../support/console-browser.ts';
import { makeUser } from '../support/principals.ts';

interface Command {
  readonly child: ChildProcess;
  /** The output so far. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  /** Resolves with the first match in the error output. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
}

describe.skipIf(missing !== null)('the command line', { timeout: 120_000 }, () => {
  const service = useConsole();
  const directory = mkdtempSync(join(tmpdir(), 'switchyard-command-line-'));
  const file = join(directory, 'switchyard', 'credentials.json');
  beforeAll(() => ensureBuilt());
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** Starts `switchyard` as its user does, with settings of its own. */
  function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): Command {
    const child = spawn(process.execPath, ['dist/cli/switchyard.js', ...args], {
      env: { PATH: process.env.PATH ?? '', XDG_CONFIG_HOME: directory, ...env },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (data: Buffer) => (output.stdout += data));
    child.stderr.on('data', (data: Buffer) => (output.stderr += data));
    child.stdin.end();
    const ended = once(child, 'close').then(([code]: unknown[]) => code as number | null);
    return {
      child,
      output,
      ended,
      async shows(pattern) {
        await Promise.race([expect.poll(() => output.stderr).toMatch(pattern), ended]);
        const match = pattern.exec(output.stderr);
        if (match === null) throw new Error(`The command ended with: ${output.stdout}${output.stderr}`);
        return match;
      },
    };
  }
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { output, ended } = start(args, env);
    return { code: await ended, ...output };
  };
  const codePattern = /enter this code: ([A-Z]{4}-[A-Z]{4})/;

  it('signs in by a code that a person enters in the browser, and out again', async () => {
    const { test, browser } = service;
    const { token: own, email } = await makeUser(test);
    const login = start(['login', test.url, '--name', 'Laptop of Ann']);
    const [, userCode = ''] = await login.shows(codePattern);
    const { page, pictures } = await openSignedIn(browser, test, own, { at: '/device' });
    await page.getByRole('heading', { name: 'Connect a program' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await pictures('device-code');
    await page.getByLabel('Code').fill('BBBB-BBBB');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('That code isn’t valid.').waitFor();
    await page.getByLabel('Code').fill(userCode.toLowerCase());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Give “Laptop of Ann” access?' }).waitFor();
    await page.getByText(email).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await pictures('device-decision');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('status').filter({ hasText: '“Laptop of Ann” has access.' }).waitFor();
    await pictures('device-approved');

    expect(await login.ended).toBe(0);
    expect(login.output.stdout).toMatch(
      new RegExp(`^Signed in to ${test.url} as ${email}\\. The token expires on \\d{4}-\\d\\d-\\d\\d\\.\\n$`),
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { token } = JSON.parse(readFileSync(file, 'utf8')).services[test.url];
    expect(login.output.stdout + login.output.stderr).not.toContain(token);

    const known = await run(['whoami', '--json']);
    expect(known).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(known.stdout)).toMatchObject({ address: test.url, name: email, organizations: [{}] });
    const answered = await run(['api', 'graphql', '-q', '{ viewer { principalType } }']);
    expect(answered).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(answered.stdout).data).toEqual({ viewer: { principalType: 'USER' } });
    const wrong = await run(['api', 'graphql', '-q', '{ nothing }']);
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('nothing') });
    const rest = await run(['api', '/v3/self']);
    expect(rest).toMatchObject({ code: 0, stderr: '' });
    const missingPath = await run(['api', '/v3/none']);
    expect(missingPath).toMatchObject({ code: 1, stderr: '404 Not Found\n' });

    expect(await run(['logout'])).toEqual({ code: 0, stdout: `Signed out of ${test.url}.\n`, stderr: '' });
    expect((await graphql(test, token, '{ viewer { principalType } }')).errors?.[0].extensions.code).toBe(
      'UNAUTHENTICATED',
    );
    expect(readFileSync(file, 'utf8')).not.toContain(token);
    expect(await run(['whoami'])).toMatchObject({ code: 1, stderr: expect.stringContaining('You aren’t signed in.') });
  });

  it('is refused by a person', async () => {
    const { test, browser } = service;
    const login = start(['login', test.url, '--no-browser']);
    const [, userCode = ''] = await login.shows(codePattern);
    const { page, pictures } = await openSignedIn(browser, test, test.adminToken, { at: '/device', width: 390 });
    await page.getByLabel('Code').fill(userCode);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Deny' }).waitFor();
    await pictures('device-decision');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Access denied. The program gets nothing.').waitFor();
    expect(await login.ended).toBe(1);
    expect(login.output.stderr).toContain('Access was denied.');
  });

  it('takes the address and the token from variables', async () => {
    const { test } = service;
    const env = { SWITCHYARD_URL: test.url, SWITCHYARD_TOKEN: test.adminToken };
    expect(await run(['whoami'], env)).toMatchObject({ code: 0, stdout: expect.stringContaining(` at ${test.url}\n`) });
    expect(await run(['logout'], env)).toMatchObject({ code: 1, stderr: expect.stringContaining('SWITCHYARD_TOKEN') });
    const invalid = await run(['whoami'], { ...env, SWITCHYARD_TOKEN: 'cog_invalid0' });
    expect(invalid).toMatchObject({ code: 1, stderr: expect.stringContaining('does not accept the token') });
  });

  it('says what is wrong', async () => {
    const { test } = service;
    const other = test.url.replace('127.0.0.1', 'localhost');
    const results = await Promise.all([
      run(['login', 'http://switchyard.example.com']),
      run(['login', 'https://user:secret@example.com']),
      run(['login', 'http://127.0.0.1:9']),
      run(['login', other]),
      run(['login', test.url, 'more']),
      run(['login', '--nothing']),
      run(['api', 'https://example.com/'], { SWITCHYARD_URL: test.url, SWITCHYARD_TOKEN: test.adminToken }),
    ]);
    expect(results.map(({ code }) => code)).toEqual([1, 1, 1, 1, 2, 2, 2]);
    const texts = results.map(({ stderr }) => stderr);
    expect(texts[0]).toContain('is not encrypted');
    expect(texts[1]).toContain('without a user name, a password');
    expect(texts[2]).toMatch(/doesn’t answer: .+\.\n/);
    expect(texts[3]).toContain(`has another address of its own: ${test.url}`);
    expect(texts[6]).toContain('PATH must begin with "/"');
    for (const text of texts) expect(text).not.toMatch(/ {4}at |secret@/);
  });
});
