import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startApp } from '../support/app.ts';
import { startFakeLlm } from '../support/fake-llm/fake-llm.ts';
import { findGemini, findOpencode, writeRealProfiles } from '../support/real-agents.ts';
import { sendMessage } from '../support/reports.ts';
import { whyNoSandbox } from '../support/sandbox.ts';
import { waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';
import { directoryOf } from '../support/workspaces.ts';

const apiKey = 'provider-key-c4n4ry';
const noSandbox = await whyNoSandbox();
const agents = [findOpencode(), findGemini()].filter(({ program }) => program !== null);

// Gemini CLI cannot load a session in its first minute (docs/agents.md).
const shiftClock = `const now = Date.now; Date.now = () => now() + 60_000;
globalThis.Date = new Proxy(Date, { construct: (made, args) => new made(...(args.length > 0 ? args : [made.now()])) });`;
const oneMinuteLater = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shiftClock)}` };

it.skipIf(testDatabase !== 'postgres' || noSandbox !== null).each(agents)(
  '$id continues on another worker with another data directory, with its files and its memory',
  { timeout: 600_000 },
  async (agent) => {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-moved-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const llm = await startFakeLlm({ apiKey });
    onTestFinished(() => llm.close());
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, apiKey);
    const sandbox = { driver: 'bwrap', network: 'gateway' };
    const profile = { ...agent.behindGateway(llm.url, keyFile), id: 'moved', sandbox };
    const later = { ...profile, env: oneMinuteLater };
    const shared = { agentsConfig: writeRealProfiles(agent, [profile]), attachmentsDir: join(folder, 'files') };
    const api = await startApp({ ...shared, roles: ['api'] });
    onTestFinished(() => api.close());
    const one = await api.another({ ...shared, roles: ['worker'] });
    const id = await createSession(api, {
      prompt: ['Write a greeting.', 'do: say I will write it.', 'do: write hello.txt Hello there'].join('\n'),
      agent: 'moved',
    });
    await waitUntilEnded(api, id);
    const readAgentSession = async () =>
      (
        await api.app.services.store.query<{ agentSessionId: string | null }>(
          'select agent_session_id as "agentSessionId" from run where session_id = $1',
          [id],
        )
      )[0]?.agentSessionId;
    const before = await readAgentSession();
    expect(before).not.toBeNull();
    // A busy machine may need longer than a stop waits for.
    const stored = `select 1 from checkpoint where session_id = $1 and kind = 'TURN_END'`;
    const readStored = () => api.app.services.store.query(stored, [id]);
    await expect.poll(async () => (await readStored()).length, { timeout: 120_000 }).toBeGreaterThan(0);
    // Stops the worker, and deletes its data directory.
    await one.close();
    const two = await api.another({ ...shared, agentsConfig: writeRealProfiles(agent, [later]), roles: ['worker'] });
    onTestFinished(() => two.close());
    const calls = llm.calls.length;
    await sendMessage(api, id, ['do: shell cat hello.txt > copy.txt; echo copied', 'do: say It is copied.'].join('\n'));
    await waitUntilEnded(api, id);
    const copy = join(directoryOf(two, id), 'ws', 'copy.txt');
    expect(readFileSync(copy, 'utf8').trim()).toBe('Hello there');
    expect(await readAgentSession()).toBe(before);
    const work = llm.calls.slice(calls).filter(({ conversation }) => conversation.tools.length > 0);
    const text = work
      .at(-1)
      ?.conversation.turns.map((turn) => turn.text)
      .join('\n');
    expect(text).toContain('I will write it.');
    expect(text).toContain('Your workspace and home were restored to their state at');
    expect(text).not.toContain('could not be taken up again');
  },
);
