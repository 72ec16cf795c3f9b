import { existsSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, startApp, type TestApp } from './app.ts';
import { type FakeLlm, startFakeLlm } from './fake-llm/fake-llm.ts';
import { processesOf, type RealAgent, writeRealProfiles } from './real-agents.ts';
import { readEvents, untilOver } from './watching.ts';

const apiKey = 'provider-key-c4n4ry';
/** For one test: an agent's start takes seconds, and on a busy machine many. */
const patienceMs = 180_000;

/** What every agent must do, through the HTTP API, with a model that does what the user's words say. */
export function tellStory(agent: RealAgent): void {
  describe.skipIf(agent.program === null)(agent.id, () => {
    let test: TestApp;
    let llm: FakeLlm;
    beforeAll(async () => {
      llm = await startFakeLlm({ apiKey });
      const agentsConfig = writeRealProfiles(agent, [
        agent.profile(llm.url, apiKey),
        { ...agent.profile(llm.url, 'another-key-c4n4ry'), id: 'refused' },
      ]);
      test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2 });
    });
    afterAll(async () => {
      await test?.close();
      await llm?.close();
    });

    const create = async (lines: readonly string[], more: object = {}): Promise<string> => {
      const { status, body } = await call(test, test.v1Key, 'POST', '/v1/sessions', {
        prompt: lines.join('\n'),
        ...more,
      });
      expect({ status, body }).toMatchObject({ status: 200 });
      return body.session_id.replace('devin-', '');
    };
    const send = async (id: string, lines: readonly string[]) => {
      const { status } = await call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, {
        message: lines.join('\n'),
      });
      expect(status).toBe(200);
    };
    const read = async (id: string) => (await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`)).body;
    const messagesOf = async (id: string) =>
      (await read(id)).messages.map((each: { type: string; message: string }) => `${each.type}: ${each.message}`);
    const workspaceOf = (id: string) => join(test.dataDir, 'sessions', id, 'ws');
    const fileOf = (id: string, name: string) => readFileSync(join(workspaceOf(id), name), 'utf8').trim();

    it(
      'writes a file with its own tool, and goes on with a follow-up',
      async () => {
        const first = [
          'Please write a greeting.',
          'do: say I will write it.',
          'do: write hello.txt Hello there',
          'do: say It is written.',
        ];
        const id = await create(first);
        await untilOver(test, id);
        expect(await messagesOf(id)).toEqual([
          `initial_user_message: ${first.join('\n')}`,
          'devin_message: I will write it.',
          'devin_message: It is written.',
        ]);
        expect(fileOf(id, 'hello.txt')).toBe('Hello there');
        const second = ['do: shell cat hello.txt > copy.txt; echo copied', 'do: say It is copied.'];
        await send(id, second);
        await untilOver(test, id);
        expect((await messagesOf(id)).slice(3)).toEqual([
          `user_message: ${second.join('\n')}`,
          'devin_message: It is copied.',
        ]);
        expect(fileOf(id, 'copy.txt')).toBe('Hello there');
        expect(await read(id)).toMatchObject({ status: 'exit', status_enum: 'finished' });
        const tools = (await readEvents(test, id)).filter(({ toolStatus }) => toolStatus === 'completed');
        expect(tools).toContainEqual(expect.objectContaining({ output: expect.stringContaining('copied') }));
      },
      patienceMs,
    );

    it(
      'is taken up after kill -9 in the middle of a tool, and finishes',
      async () => {
        const id = await create(['do: write one.txt one', 'do: say The first part is done.']);
        await untilOver(test, id);
        const second = [
          'do: shell test -e begun || { touch begun; sleep 600; }',
          'do: write two.txt two',
          'do: say All is done.',
        ];
        const begun = untilFile(workspaceOf(id), 'begun');
        await send(id, second);
        await begun;
        const before = processesOf(id);
        const [main] = before.filter(({ parent }) => parent === process.pid);
        expect(before.map(({ command }) => command)).toContainEqual(expect.stringMatching(/^sleep 600/));
        process.kill(main?.pid as number, 'SIGKILL');
        await untilOver(test, id);
        expect(await read(id)).toMatchObject({ status: 'exit', status_enum: 'finished' });
        expect(fileOf(id, 'two.txt')).toBe('two');
        expect((await messagesOf(id)).slice(1)).toEqual([
          'devin_message: The first part is done.',
          `user_message: ${second.join('\n')}`,
          'devin_message: All is done.',
        ]);
        const after = processesOf(id);
        expect(after.filter(({ command }) => command.includes('sleep 600'))).toEqual([]);
        expect(after.filter(({ pid }) => before.some((each) => each.pid === pid))).toEqual([]);
      },
      patienceMs,
    );
  });
}

/** Resolves once there is a file of this name in the folder. */
function untilFile(folder: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, look);
    function look() {
      if (!existsSync(join(folder, name))) return;
      watcher.close();
      resolve();
    }
    look();
  });
}
