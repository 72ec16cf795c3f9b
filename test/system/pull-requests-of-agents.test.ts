import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { searchApis, searchDatabase, searchedLog } from '../support/canary-locations.ts';
import {
  allProcesses,
  type CanarySearch,
  createCanarySearch,
  encodingsOf,
  searchFiles,
  searchProcesses,
} from '../support/canary-search.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { missing, openBrowser, openSignedIn } from '../support/console-browser.ts';
import { environmentFile } from '../support/environments.ts';
import { type FakeLlm, startFakeLlm } from '../support/fake-llm/fake-llm.ts';
import { statesOf } from '../support/followed-pull-requests.ts';
import { type ForgeServer, startForgeServer } from '../support/forges/forge-server.ts';
import { installationId, startGithub, type TestGithub } from '../support/forges/github.ts';
import { commitToMain } from '../support/forges/pushed-pull.ts';
import { connectForgeAt } from '../support/git-webhooks.ts';
import { postTo } from '../support/incoming-webhooks.ts';
import { secretCanary } from '../support/leaks.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { findGemini, findOpencode, processesOf, writeRealProfiles } from '../support/real-agents.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { readEvents, readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

const problem = await whyNoSandbox();
if (problem !== null && process.env.CI) throw new Error(problem);

/** The timeout of one test: an agent starts in seconds, on a busy machine in many. */
const timeout = 600_000;
const makeCanary = () => `${secretCanary}-${randomBytes(18).toString('hex')}`;

/** The kinds of locations that an agent may write its own secret to, and its control value. */
const ofAgent = [
  'sandbox environment',
  'sandbox command line',
  'sandbox file',
  'file of the service',
  'model request',
  'environment',
  'command line',
];
const everywhere = [...ofAgent, 'database value', 'log entry', 'API response', 'process log', 'request to the forge'];

for (const agent of [findOpencode(), findGemini()])
  describe.skipIf(agent.program === null || problem !== null)(`${agent.id} in a sandbox without a network`, () => {
    const startedAt = Date.now();
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-key-'));
    const search = createCanarySearch();
    const [modelKey, webhookSecret, sessionSecret] = [makeCanary(), makeCanary(), makeCanary()];
    const control = `control-${randomBytes(18).toString('hex')}`;
    let wire: ForgeServer;
    let github: TestGithub;
    let llm: FakeLlm;
    let test: TestApp;
    const accounts = new Set<string>();
    let browser: Browser;
    let hook: string;
    let connectionId: string;
    /** False: the deliveries of webhooks are lost, so that polls must find the merge. */
    const isWired = agent.id === 'opencode';

    /** While git runs: the service for a clone, and the agent for a push. */
    const onGitRequest = (account: string) => {
      accounts.add(account);
      const n = [...accounts].indexOf(account);
      search.add({ name: `account ${n} for git`, value: account });
      search.add({ name: `token ${n} for git`, value: account.replace(/^[^:]*:/, '') });
      searchProcesses(search, allProcesses());
    };

    beforeAll(async () => {
      wire = await startForgeServer(async ({ headers, body }) => {
        const kept = Object.entries(headers).filter(([name]) => /^(content-type|x-|user-agent)/.test(name));
        if (!isWired) return { status: 503 };
        const { status } = await postTo(
          test,
          hook,
          body,
          Object.fromEntries(kept.map(([name, value]) => [name, String(value)])),
        );
        return { status };
      });
      github = await startGithub({ webhookUrl: wire.url, webhookSecret, hasGit: true, onGitRequest });
      const definition = 'setup: echo prepared > set-up\n';
      await commitToMain(github, { [environmentFile]: definition, '.gitignore': 'set-up\n' });
      if (missing === null) browser = await openBrowser();
      llm = await startFakeLlm({ apiKey: modelKey });
      const keyFile = join(folder, 'key');
      writeFileSync(keyFile, modelKey);
      for (const [name, value] of Object.entries({ modelKey, webhookSecret, privateKey: github.privateKey }))
        search.add({ name, value });
      search.add({ name: 'sessionSecret', value: sessionSecret, allowedIn: ofAgent });
      search.add({ name: 'control', value: control, allowedIn: everywhere });
      const sandbox = { driver: 'bwrap', network: 'gateway' };
      const agentsConfig = writeRealProfiles(agent, [
        { ...agent.behindGateway(llm.url, keyFile), id: agent.id, sandbox },
      ]);
      const roles = ['api', 'worker', 'scheduler'] as const;
      const settings = { roles: [...roles], agentsConfig, isHttpForgeAllowed: true };
      test = await startApp(settings, { log: searchedLog(search) });
      const app = {
        appId: '12345',
        privateKey: github.privateKey,
        installationId: String(installationId),
        webhookSecret,
      };
      ({ path: hook, id: connectionId } = await connectForgeAt(test, github.url, {
        providerType: 'GITHUB_APP',
        token: null,
        ...app,
      }));
    });
    afterAll(async () => {
      await browser?.close();
      await test?.close();
      await llm?.close();
      await github?.close();
      await wire?.close();
      rmSync(folder, { recursive: true });
    });

    it('goes from a session in a repository to a merged pull request, and no credential appears anywhere', {
      timeout,
    }, async () => {
      requireAllForms({ modelKey, webhookSecret, privateKey: github.privateKey, sessionSecret, control });
      const ada = await makeUser(test, { name: 'Ada Lovelace' });
      const head = await github.git?.git('acme/site', 'rev-parse', 'main');
      const prompt = scriptOf(control);
      const input = {
        ...{ agent: agent.id, prompt, organizationId: test.organizationId },
        repositories: [{ repository: 'acme/site' }],
        sessionSecrets: [{ key: 'MY_TOKEN', value: sessionSecret }],
      };
      const id = await createSession(test, input, ada.token);

      const sleeper = await vi.waitUntil(() => processesOf(id).find(({ command }) => command === 'sleep 600'), {
        timeout,
        interval: 200,
      });
      // It has used credentials to read and to write, and its processes run.
      expect(accounts.size).toBeGreaterThan(0);
      for (const [n, value] of apiTokensOf(github).entries()) search.add({ name: `API token ${n}`, value });
      const pids = processesOf(id).map(({ pid }) => pid);
      searchProcesses(search, pids, 'sandbox ');
      searchProcesses(search, allProcesses());
      const seen = searchFiles(search, 'sandbox file', `/proc/${sleeper.pid}/root`, {
        from: startedAt,
        without: ['/proc', '/sys'],
      });
      searchFiles(search, 'file of the service', test.dataDir);
      await searchApis(search, test, id);
      process.kill(sleeper.pid, 'SIGKILL');
      await waitUntilEnded(test, id);

      const messages = (await readMessages(test, id)).join('\n');
      const branch = String((await sessionOf(test, id)).repositories[0].branch);
      expect(messages).toContain(`[remote rejected] HEAD -> main`);
      expect(messages).toContain(branch);
      expect(await github.git?.git('acme/site', 'rev-parse', 'main')).toBe(head);

      // The agent's own secret, in base64 after a text and in hexadecimal.
      if (agent.showsOutput)
        expect(JSON.stringify(await readEvents(test, id))).toContain('eC1hY2Nlc3MtdG9rZW46********');

      const pulls = (await github.person(
        'GET',
        `/repos/acme/site/pulls?state=open&head=acme:${branch}`,
      )) as unknown as any[];
      expect(pulls).toHaveLength(1);
      const { number, title, state, body } = pulls[0];
      expect({ title, state }).toEqual({ title: 'Add a greeting', state: 'open' });
      expect(body).toContain('Requested by Ada Lovelace');
      const commits = (await github.person('GET', `/repos/acme/site/pulls/${number}/commits`)) as unknown as any[];
      // The emulator also lists the base.
      const own = commits.filter(({ sha }) => sha !== head);
      const bot = 'switchyard-test[bot]';
      const by = {
        author: { name: 'Ada Lovelace', email: ada.email },
        committer: { name: bot, email: `4242+${bot}@users.noreply.127.0.0.1` },
      };
      expect(own.map(({ commit }) => commit)).toMatchObject([
        { message: expect.stringContaining('Add a greeting'), ...by },
        { message: expect.stringContaining('Say goodbye too'), ...by },
      ]);

      const url = `${github.url}/acme/site/pull/${number}`;
      expect(await statesOf(test, id)).toEqual({ graphql: ['OPEN'], v3: ['open'], v1: [url] });
      const session = await sessionOf(test, id);
      expect(session.pullRequests).toEqual([
        {
          url,
          number,
          state: 'OPEN',
          title: 'Add a greeting',
          headBranch: branch,
          baseBranch: 'main',
          isOpenedByService: true,
        },
      ]);
      const path = `/v3/organizations/${test.organizationId}/sessions/devin-${id}`;
      expect((await call(test, test.adminToken, 'GET', path)).body.pull_requests).toEqual([
        { pr_url: url, pr_state: 'open' },
      ]);

      const window =
        missing === null ? await openSignedIn(browser, test, test.adminToken, { at: `/sessions/devin-${id}` }) : null;
      const details = window?.page.getByRole('tabpanel', { name: 'Details' });
      await details?.getByText('Add a greeting', { exact: true }).waitFor();
      await details?.getByText('Open', { exact: true }).waitFor();

      if (isWired) {
        const review = [
          'Please add what the set-up made.',
          "do: shell cat set-up >>greeting.txt && git commit -qam 'Add the set-up' && git push 2>&1",
          'do: say It is there.',
        ];
        const path = `/repos/acme/site/pulls/${number}/reviews`;
        await github.person('POST', path, { event: 'REQUEST_CHANGES', body: review.join('\n') });
        const greeting = async () => github.git?.git('acme/site', 'show', `${branch}:greeting.txt`);
        await vi.waitFor(async () => expect(await greeting()).toBe('Hello thereBye\nprepared'), { timeout });
        await waitUntilEnded(test, id);
      }

      const clock: Clock | null = isWired ? null : stopClock(test);
      await github.person('PUT', `/repos/acme/site/pulls/${number}/merge`, {});
      clock?.advance(120_000);
      if (clock) test.app.services.notifier.notify('pull-requests');
      await vi.waitFor(
        async () => expect(await statesOf(test, id)).toEqual({ graphql: ['MERGED'], v3: ['merged'], v1: [url] }),
        { timeout },
      );

      await details?.getByText('Merged', { exact: true }).waitFor();
      expect(window?.consoleErrors ?? []).toEqual([]);

      await provokeErrors(search, test, github, { sessionId: id, connectionId });

      test.app.services.log.warn({ control }, 'A line of the test.');
      await searchApis(search, test, id);
      await searchDatabase(search, test);
      searchFiles(search, 'file of the service', test.dataDir);
      for (const { conversation, dialect } of llm.calls)
        search.look('model request', dialect, JSON.stringify(conversation));
      for (const { method, url: to, body: sent } of github.requests)
        search.look('request to the forge', `${method} ${to.pathname}`, `${to.href}\n${sent}`);
      expect(search.findings).toEqual([]);
      expect(search.kindsWith('control')).toEqual([...everywhere].sort());
      expect(search.kindsWith('sessionSecret')).toContain('sandbox environment');
      const counts = Object.fromEntries(search.counts);
      process.stderr.write(`${agent.id}: searched ${JSON.stringify(counts)}; the sandbox has ${seen} files.\n`);
      for (const [kind, min] of Object.entries(minCounts)) expect(counts[kind], kind).toBeGreaterThanOrEqual(min);
    });
  });

/** The minimum numbers of searched contents; a search that silently finds no locations fails. */
const minCounts = {
  'sandbox environment': 3,
  'sandbox command line': 3,
  'sandbox file': 20,
  'name of a sandbox file': 10_000,
  environment: 10,
  'command line': 10,
  'file of the service': 100,
  'database value': 500,
  'log entry': 20,
  'API response': 20,
  'process log': 1,
  'model request': 8,
  'request to the forge': 10,
};

/** The commands of the model: work, two commits, a push, one that is refused, and a pull request. */
const scriptOf = (control: string) =>
  [
    'Please write a greeting and open a pull request.',
    'do: write greeting.txt Hello there',
    "do: shell git add greeting.txt && git commit -qm 'Add a greeting'",
    "do: shell echo Bye >>greeting.txt && git commit -qam 'Say goodbye too' && git push 2>&1",
    'do: shell git push origin HEAD:main 2>&1',
    'do: quote remote',
    `do: shell printf %s "$MY_TOKEN" | base64 -w0; echo; printf 'x-access-token:%s' "$MY_TOKEN" | base64; printf 'ab%s' "$MY_TOKEN" | base64; printf %s "$MY_TOKEN" | od -An -tx1 | tr -d ' \\n'`,
    'do: shell env | sort; git config --list --show-origin; cat .git/config; set',
    `do: shell export KEEP=${control}; sleep 600 & wait`,
    `do: tool open_pull_request ${JSON.stringify({ title: 'Add a greeting', body: `It greets ${control}.` })}`,
    'do: say It is open.',
  ].join('\n');

/** Fails unless a search finds each form of each value in a longer text, and nothing in a text without them. */
function requireAllForms(values: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(values)) {
    const search = createCanarySearch();
    search.add({ name, value });
    search.look('text', 'nothing', 'Some text without any of them.');
    const forms = [...encodingsOf(value)];
    for (const [encoding, form] of forms) search.look('text', encoding, `Some text ${form}, and more.`);
    expect(search.findings.map(({ location }) => location)).toEqual(forms.map(([encoding]) => encoding));
  }
}

/** The tokens with which the service called the API of the forge. */
const apiTokensOf = (github: TestGithub) =>
  new Set(github.requests.flatMap(({ headers }) => headers.authorization?.replace(/^\w+ /, '') ?? []));

async function sessionOf(test: TestApp, id: string): Promise<any> {
  const document = `query($id: ID!) { session(id: $id) { repositories { branch }
    pullRequests { url number state title headBranch baseBranch isOpenedByService } } }`;
  return (await graphql(test, test.adminToken, document, { id: `devin-${id}` })).data.session;
}

/** Makes the service report errors of a forge that repeats the credentials that it received, and searches the reports. */
async function provokeErrors(search: CanarySearch, test: TestApp, github: TestGithub, ids: Ids): Promise<void> {
  const { sessionId, connectionId } = ids;
  const gitConnectionId = `git-connection-${connectionId}`;
  const countBefore = github.requests.length;
  github.intercept(({ headers, body }) => ({
    status: 500,
    body: { message: `No: ${JSON.stringify(headers)} ${body}` },
  }));
  const v3 = `/v3/organizations/${test.organizationId}/sessions`;
  const answers = {
    'forge with an error': await runMutation(test, 'testGitConnection', 'test { isOk code message }', {
      gitConnectionId,
    }),
    'pull request': await runMutation(test, 'openPullRequest', '', { sessionId, title: 'Another', base: 'other' }),
    'broken key': await runMutation(test, 'updateGitConnection', '', {
      gitConnectionId,
      privateKey: github.privateKey.slice(0, 400),
    }),
    'unknown repository': (await call(test, test.adminToken, 'POST', v3, { prompt: 'x', repos: ['acme/none'] })).body,
    'key as a token': (await graphql(test, secretOf(github), '{ viewer { __typename } }')).errors,
  };
  github.intercept(() => null);
  expect(github.requests.length).toBeGreaterThan(countBefore);
  expect(answers['forge with an error']).toMatchObject({ test: { isOk: false } });
  for (const name of ['pull request', 'broken key'] as const) expect(answers[name].userErrors, name).not.toEqual([]);
  expect(answers['key as a token']).not.toBeUndefined();
  for (const [name, answer] of Object.entries(answers)) search.look('API response', name, JSON.stringify(answer));
}

/** A line of the App's private key. */
const secretOf = ({ privateKey }: TestGithub) => privateKey.split('\n')[3] ?? '';

interface Ids {
  readonly sessionId: string;
  readonly connectionId: string;
}
