import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { connectApp, deliver, labeled, runsOf, settled } from '../support/forge-events.ts';
import { startGithub, type TestGithub } from '../support/forges/github.ts';
import type { TestConnection } from '../support/git-webhooks.ts';
import { readEvents, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let github: TestGithub;
let test: TestApp;
let connection: TestConnection;
beforeAll(async () => {
  github = await startGithub({ hasGit: true });
  test = await startApp({ roles: ['api', 'worker', 'scheduler'], isHttpForgeAllowed: true });
  connection = await connectApp(test, github);
});
afterAll(async () => {
  await test?.close();
  await github?.close();
});

const runDemo = async (lines: readonly string[]) => {
  const { organizationId } = test;
  const prompt = [...lines, 'mcp finish_session {}'].join('\n');
  const id = await createSession(test, { prompt, organizationId, repositories: [{ repository: 'acme/site' }] });
  await waitUntilEnded(test, id);
  const [row] = await test.app.services.store.query<{ branch: string }>(
    'select branch from session_repository where session_id = $1',
    [id],
  );
  return { branch: row?.branch ?? '', events: JSON.stringify(await readEvents(test, id)) };
};

it('commits, pushes and opens a pull request', async () => {
  const lines = ['write hello.txt Hello', 'commit Add a greeting', 'push', 'open pull request Greet people'];
  const { branch, events } = await runDemo(lines);
  expect(await github.git?.git('acme/site', 'log', '-1', '--format=%s', branch), events).toBe('Add a greeting');
  expect(await github.git?.git('acme/site', 'show', `${branch}:hello.txt`)).toBe('Hello');
  const pulls = await github.person('GET', `/repos/acme/site/pulls?state=open&head=acme:${branch}`);
  expect(pulls).toMatchObject([{ title: 'Greet people' }]);
  const log = (JSON.parse(events) as { kind: string; phase?: string }[]).filter(({ kind }) => /PUSH|TURN/.test(kind));
  expect(log.map(({ kind, phase }) => phase ?? kind)).toEqual(['started', 'PUSH', 'stopped']);
});

it("shows git's refusals", async () => {
  const main = await github.git?.git('acme/site', 'rev-parse', 'main');
  const onMain = ['write .git/HEAD ref: refs/heads/main', 'write hello.txt Hello', 'commit Add a greeting', 'push'];
  const { branch, events } = await runDemo(['commit Nothing', ...onMain]);
  expect(events).toContain('nothing to commit');
  expect(events).toContain('this session may push to its own branches only');
  expect(await github.git?.git('acme/site', 'rev-parse', 'main')).toBe(main);
  expect(await github.git?.git('acme/site', 'branch', '--list', branch)).toBe('');
});

it('works in a clone of the repository whose issue got a label', async () => {
  const prompt = ['write fix.txt Fixed', 'commit Repair the login', 'push', 'mcp finish_session {}'].join('\n');
  const conditions = { any: [{ all: [{ field: 'label.name', operator: 'EQ', value: 'agent' }] }] };
  const triggers = [{ event: { eventType: 'github:issues', conditions } }];
  const { automation } = await createAutomation(test, { triggers, actions: [{ startSession: { prompt } }] });
  await deliver(test, connection.path, 'issues', labeled());
  await settled(test);
  const [run] = await runsOf(test, automation.automationId);
  const id = run?.session?.sessionId.replace('devin-', '') ?? '';
  await waitUntilEnded(test, id);
  const [row] = await test.app.services.store.query<{ path: string; branch: string }>(
    'select path, branch from session_repository where session_id = $1',
    [id],
  );
  expect(row?.path).toBe('acme/site');
  const subject = await github.git?.git('acme/site', 'log', '-1', '--format=%s', row?.branch ?? '');
  expect(subject, JSON.stringify(await readEvents(test, id))).toBe('Repair the login');
});
