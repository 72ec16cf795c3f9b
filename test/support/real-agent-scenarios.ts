import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from './app.ts';
import { type FakeLlm, type LlmCall, startFakeLlm } from './fake-llm/fake-llm.ts';
import { runMutation } from './people.ts';
import { askingProfile, stopEverywhere } from './real-agent-stops.ts';
import { processesOf, type RealAgent, writeRealProfiles } from './real-agents.ts';
import { whyNoSandbox } from './sandbox.ts';
import { readEvents, waitForSession, waitUntilEnded } from './session-waits.ts';
import { createSession } from './sessions.ts';

const apiKey = 'provider-key-c4n4ry';
/** The timeout of one test: an agent starts in seconds, on a busy machine in many. */
const patienceMs = 600_000;

/** Sleeps for long and creates a file when it starts: a shell that has just forked does not sleep yet. */
const sleepAndSignal = 'sleep 600 & until grep -q sleep /proc/$!/comm; do true; done; touch begun; wait;';

// test/system/sandboxed-sessions.test.ts has the sandbox with a network.
const walls = ['no sandbox', 'bubblewrap without a network'] as const;
type Wall = (typeof walls)[number];

const schema = { type: 'object', required: ['files'], properties: { files: { type: 'integer' } } };
const noSandbox = await whyNoSandbox();
if (noSandbox !== null) process.stderr.write(`Real agents run without a sandbox only. ${noSandbox}\n`);
// An agent takes long to start. The other tests run without a sandbox, so the whole way is only one more with TEST_EVERYWHERE.
const testedWalls = noSandbox !== null ? walls.slice(0, 1) : walls.slice(process.env.TEST_EVERYWHERE ? 0 : 1);

/** Tests the behaviour that every agent must have, through the HTTP API, with a model that follows the user's commands. */
export function describeRealAgent(agent: RealAgent): void {
  const { id: name, program } = agent;
  describe.skipIf(program === null)(name, () => {
    let test: TestApp;
    let llm: FakeLlm;
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-key-'));
    beforeAll(async () => {
      llm = await startFakeLlm({ apiKey });
      const keyFile = join(folder, 'key');
      writeFileSync(keyFile, apiKey);
      const direct = agent.profile(llm.url, apiKey);
      const gateway = { driver: 'bwrap', network: 'gateway' };
      const agentsConfig = writeRealProfiles(agent, [
        { ...direct, id: 'no-sandbox', sandbox: 'none' },
        { ...agent.behindGateway(llm.url, keyFile), id: 'bubblewrap-without-a-network', sandbox: gateway },
        { ...agent.profile(llm.url, 'another-key-c4n4ry'), id: 'refused', sandbox: 'none' },
        { id: askingProfile, env: { ...direct.env, ...agent.askingEnv }, permission: 'ask', sandbox: 'none' },
      ]);
      test = await startApp({ roles: ['api', 'worker'], agentsConfig });
    });
    afterAll(async () => {
      await test?.close();
      await llm?.close();
      rmSync(folder, { recursive: true });
    });

    const send = async (id: string, lines: readonly string[]) => {
      const body = { message: lines.join('\n') };
      expect((await call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, body)).status).toBe(200);
    };
    const read = async (id: string) => (await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`)).body;
    const messagesOf = async (id: string) =>
      (await read(id)).messages.map((each: { type: string; message: string }) => `${each.type}: ${each.message}`);
    const pathOf = (id: string, file: string) => join(test.dataDir, 'sessions', id, 'ws', file);
    const fileOf = (id: string, file: string) => readFileSync(pathOf(id, file), 'utf8').trim();
    /** The later requests to the model, without titles and the like. */
    const workSince = (count: number) => llm.calls.slice(count).filter((each) => each.conversation.tools.length > 0);

    it.for(testedWalls)('goes the whole way in %s', { timeout: patienceMs }, async (wall: Wall) => {
      const callsBefore = llm.calls.length;
      const first = [
        'Please write a greeting, and say how many files there are.',
        'do: say I will write it.',
        'do: write hello.txt Hello there',
        'do: tool set_structured_output {"output": {"files": "many"}}',
        'do: tool set_structured_output {"output": {"files": 1}}',
        'do: say It is written.',
      ];
      const id = await createSession(test, {
        prompt: first.join('\n'),
        agent: wall.replaceAll(' ', '-'),
        structuredOutputSchema: schema,
      });
      await waitUntilEnded(test, id);
      expect(fileOf(id, 'hello.txt')).toBe('Hello there');
      const written = await read(id);
      expect(written).toMatchObject({ status: 'exit', status_enum: 'finished', structured_output: { files: 1 } });

      const second = ['do: shell cat hello.txt > copy.txt; echo copied', 'do: say It is copied.'];
      await send(id, second);
      await waitUntilEnded(test, id);
      expect(fileOf(id, 'copy.txt')).toBe('Hello there');

      const third = [
        `do: shell test -e begun || { ${sleepAndSignal} }`,
        'do: write two.txt two',
        'do: tool set_structured_output {"output": {"files": 2}}',
        'do: say All is done.',
      ];
      const begun = waitForFile(pathOf(id, '.'), 'begun');
      await send(id, third);
      await begun;
      const before = processesOf(id);
      expect(before.map(({ command }) => command)).toContain('sleep 600');
      const [main, ...others] = before.filter(({ command }) => command === program?.join(' '));
      expect(others).toEqual([]);
      if (wall === 'bubblewrap without a network') {
        expect(readFileSync(`/proc/${main?.pid}/environ`, 'utf8')).not.toContain(apiKey);
      }
      process.kill(main?.pid as number, 'SIGKILL');
      await waitUntilEnded(test, id);
      expect(await read(id)).toMatchObject({
        status: 'exit',
        status_enum: 'finished',
        structured_output: { files: 2 },
      });
      expect(fileOf(id, 'two.txt')).toBe('two');
      const now = processesOf(id);
      expect(
        now.filter(({ pid, command }) => command === 'sleep 600' || before.some((each) => each.pid === pid)),
      ).toEqual([]);

      expect(await messagesOf(id)).toEqual([
        `initial_user_message: ${first.join('\n')}`,
        'devin_message: I will write it.',
        'devin_message: It is written.',
        `user_message: ${second.join('\n')}`,
        'devin_message: It is copied.',
        `user_message: ${third.join('\n')}`,
        'devin_message: All is done.',
      ]);
      const tools = await readTools(test, id);
      const greeting = expect.objectContaining({ newText: expect.stringContaining('Hello there') });
      if (agent.showsDiffs) expect(tools).toContainEqual(expect.objectContaining({ diffs: [greeting] }));
      const copied = expect.objectContaining({ output: expect.stringContaining('copied') });
      if (agent.showsOutput) expect(tools).toContainEqual(copied);
      const work = workSince(callsBefore);
      expect(work.map(({ status, key }) => `${status} ${key}`)).toEqual(work.map(() => `200 ${apiKey}`));
      // It still knows what it did before the kill.
      expect(
        work
          .at(-1)
          ?.conversation.turns.map(({ text }) => text)
          .join('\n'),
      ).toContain('It is copied.');
      if (wall === 'bubblewrap without a network') {
        expect(await readLedger(test, id)).toEqual(sumOf(llm.calls.slice(callsBefore)));
      }
    });

    it('gives what the user says meanwhile as the next turn, and secrets only to its tools', {
      timeout: patienceMs,
    }, async () => {
      const value = `${name}-c4n4ry-of-a-session`;
      const first = ['do: hold first', 'do: shell echo "$MY_TOKEN" | tee token.txt', 'do: say One.'];
      const { body } = await call(test, test.v1Key, 'POST', '/v1/sessions', {
        prompt: first.join('\n'),
        session_secrets: [{ key: 'MY_TOKEN', value, sensitive: true }],
      });
      const id = body.session_id.replace('devin-', '');
      await llm.waitForHold('first');
      await send(id, ['do: say Two.']);
      llm.release('first');
      await waitUntilEnded(test, id);
      expect((await messagesOf(id)).slice(1)).toEqual([
        'user_message: do: say Two.',
        'devin_message: One.',
        'devin_message: Two.',
      ]);
      expect(fileOf(id, 'token.txt')).toBe(value);
      expect(JSON.stringify(await readTools(test, id))).not.toContain(value);
      await chooseMode(test, id);
    });

    it('shows its model the tool by which it asks the user', { timeout: patienceMs }, async () => {
      const tool = name === 'gemini' ? 'ask_the_user' : 'ask_user';
      const id = await createSession(test, {
        prompt: `do: tool ${tool} {"question": "Which colour?"}\ndo: say I have asked.`,
      });
      await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WAITING_FOR_USER');
      expect(await messagesOf(id)).toContain('devin_message: Which colour?');
    });

    it('stops in a text, a question and a command that ignores SIGTERM, and continues', { timeout: patienceMs }, () =>
      stopEverywhere({ test, llm, agent }),
    );

    it('says at once that the provider refused the key', { timeout: patienceMs }, async () => {
      const id = await createSession(test, { prompt: 'do: say Never.', agent: 'refused' });
      expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'ERROR' });
      const last = (await messagesOf(id)).at(-1);
      expect(last).toMatch(
        /^devin_message: .*refused the message: [^{]*(Incorrect API key provided|Authentication required)/,
      );
      const turns = (await readEvents(test, id)).filter(({ kind }) => kind === 'TURN');
      expect(turns.map(({ phase }) => phase)).toEqual(['started']);
    });

    it('ends with all that it started when its session is terminated', { timeout: patienceMs }, async () => {
      const lines = [`do: shell ${sleepAndSignal}`, 'do: say Never.'];
      const id = await createSession(test, { prompt: lines.join('\n') });
      await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
      await waitForFile(pathOf(id, '.'), 'begun');
      expect(processesOf(id).map(({ command }) => command)).toContain('sleep 600');
      expect((await call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`)).status).toBe(200);
      while (processesOf(id).length > 0) await new Promise((resolve) => setImmediate(resolve));
      expect(await read(id)).toMatchObject({ status: 'exit', status_enum: 'finished' });
      expect((await messagesOf(id)).slice(1)).toEqual([]);
    });
  });
}

/** Returns the usage that the gateway counted and stored for the session's ACUs. */
async function readLedger(test: TestApp, id: string): Promise<any> {
  const [row] = await test.app.services.store.query<any>(
    `select sum(llm_calls)::int as calls, sum(input_tokens)::int as input, sum(output_tokens)::int as output
       from usage where session_id = $1`,
    [id],
  );
  return row;
}

function sumOf(calls: readonly LlmCall[]): { calls: number; input: number; output: number } {
  const sum = (key: 'input' | 'output') => calls.reduce((all, each) => all + each[key], 0);
  return { calls: calls.length, input: sum('input'), output: sum('output') };
}

/** Returns the log entries of successful tools. */
async function readTools(test: TestApp, id: string): Promise<any[]> {
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { events(first: 100, kinds: [TOOL_CALL]) { nodes {
       ... on ToolCallEvent { title toolStatus output diffs { path oldText newText } } } } } }`,
    { id },
  );
  return data.session.events.nodes.filter((each: { toolStatus: string }) => each.toolStatus === 'COMPLETED');
}

/** Resolves once the folder contains a file with this name. */
function waitForFile(folder: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, check);
    function check() {
      if (!existsSync(join(folder, name))) return;
      watcher.close();
      resolve();
    }
    check();
  });
}

/** Chooses another mode of an idle agent, and waits until the agent has accepted it. */
async function chooseMode(test: TestApp, sessionId: string): Promise<void> {
  const read = async (selection: string) =>
    (await graphql(test, test.adminToken, `query($id: ID!) { session(id: $id) { ${selection} } }`, { id: sessionId }))
      .data.session;
  const offered = 'agentProfile { options { optionId category currentValue values { value } } }';
  const { options } = (await read(offered)).agentProfile;
  const { optionId, currentValue, values } = options.find(({ category }: { category: string }) => category === 'mode');
  const { value } = values.find((each: { value: string }) => each.value !== currentValue);
  const input = { sessionId, options: [{ optionId, value }] };
  expect((await runMutation(test, 'setSessionOptions', 'session { status }', input)).userErrors).toEqual([]);
  const chosen = 'options { optionId value isPending }';
  await expect.poll(async () => (await read(chosen)).options).toContainEqual({ optionId, value, isPending: false });
}
