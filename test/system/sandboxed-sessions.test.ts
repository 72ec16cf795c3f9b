import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { startFakeLlm } from '../support/fake-llm/fake-llm.ts';
import { runMutation } from '../support/people.ts';
import { findOpencode, writeRealProfiles } from '../support/real-agents.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

const problem = await whyNoSandbox();
if (problem !== null) {
  if (process.env.CI) throw new Error(problem);
  process.stderr.write(`Skipping the tests of sandboxed sessions. ${problem}\n`);
}
const opencode = findOpencode();

const started: TestApp[] = [];
afterAll(() => Promise.all(started.map((test) => test.close())));

const start = async (overrides: Partial<Config>) => {
  const test = await startApp({ roles: ['api', 'worker'], maxConcurrentSessions: 1, ...overrides });
  started.push(test);
  return test;
};
const run = async (test: TestApp, prompt: string) => {
  const id = await createSession(test, { prompt });
  await waitUntilEnded(test, id);
  return { messages: await readMessages(test, id), workspace: join(test.dataDir, 'sessions', id, 'ws') };
};

describe.skipIf(problem !== null)('a session', () => {
  it('runs in a sandbox by default, with its files at their usual paths', async () => {
    const test = await start({});
    const { messages, workspace } = await run(test, 'env HOME\nwrite a.txt from inside');
    expect(messages.join('\n')).toContain('/home/agent');
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toContain('from inside');
  });

  it('runs without a sandbox if SANDBOX says so', async () => {
    const test = await start({ sandbox: 'none' });
    const { messages } = await run(test, 'env HOME');
    expect(messages.join('\n')).toContain(join(test.dataDir, 'sessions'));
  });

  it.skipIf(opencode.program === null)(
    'of opencode calls its model through the gateway with a configured or a stored key, and has neither the key nor other network access',
    async () => {
      const apiKey = 'provider-key-c4n4ry';
      const llm = await startFakeLlm({ apiKey });
      onTestFinished(() => llm.close());
      const profile = opencode.profile('{url}', '{key}') as { env: Record<string, string> };
      const { OPENCODE_CONFIG_CONTENT, ...env } = profile.env;
      const agentsConfig = writeRealProfiles(opencode, [
        {
          env: { ...env, OPENAI_API_KEY: apiKey },
          sandbox: { driver: 'bwrap', network: 'gateway' },
          provider: { api: 'openai', base_url: llm.url, gateway_env: { OPENCODE_CONFIG_CONTENT } },
        },
        { id: 'stored', sandbox: { driver: 'bwrap', network: 'gateway' } },
      ]);
      const test = await start({ agentsConfig });
      const port = new URL(llm.url).port;
      const { messages, workspace } = await run(
        test,
        [
          'do: shell cat /proc/*/environ > environments.txt; echo looked',
          `do: shell (exec 3<>/dev/tcp/127.0.0.1/${port}) && echo out > reached.txt || echo kept > reached.txt`,
          'do: say I have looked around.',
        ].join('\n'),
      );
      expect(messages.at(-1)).toContain('I have looked around.');
      expect(readFileSync(join(workspace, 'reached.txt'), 'utf8')).toBe('kept\n');
      const environments = readFileSync(join(workspace, 'environments.txt'), 'utf8');
      expect(environments).toContain('http://127.0.0.1:47001');
      expect(environments).not.toContain('c4n4ry');
      expect(llm.calls.length).toBeGreaterThan(0);
      expect(new Set(llm.calls.map((call) => call.key))).toEqual(new Set([apiKey]));
      const [counted] = await test.app.services.store.query(
        "select sum(llm_calls)::int as calls, sum(input_tokens)::int as input from usage where source = 'gateway'",
        [],
      );
      const answered = llm.calls.filter(({ status }) => status === 200);
      expect(counted).toEqual({
        calls: answered.length,
        input: answered.reduce((sum, { input }) => sum + input, 0),
      });

      const stored = { name: 'Team', provider: 'COMPATIBLE', baseUrl: `${llm.url}/v1`, key: 'stored-key-c4n4ry' };
      const scope = { organizationId: test.organizationId };
      await runMutation(test, 'createProviderKey', 'providerKey { id }', { ...stored, scope });
      llm.setKey(stored.key);
      const before = llm.calls.length;
      const id = await createSession(test, {
        agent: 'stored',
        prompt: 'do: shell cat /proc/*/environ > environments.txt; echo looked\ndo: say It is done.',
      });
      await waitUntilEnded(test, id);
      expect((await readMessages(test, id)).at(-1)).toContain('It is done.');
      const own = readFileSync(join(test.dataDir, 'sessions', id, 'ws', 'environments.txt'), 'utf8');
      expect(own).toContain('compatible/m');
      expect(own).not.toContain('c4n4ry');
      const calls = llm.calls.slice(before).map(({ key, conversation }) => `${key} ${conversation.model}`);
      expect(new Set(calls)).toEqual(new Set([`${stored.key} m`]));
    },
    180_000,
  );
});
