import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { secretCanary } from '../support/leaks.ts';
import {
  endTurn,
  followLive,
  LiveView,
  messageChunk,
  scriptedProfile,
  sessionLive,
  showUntil,
  streamOf,
} from '../support/live.ts';
import { writeProfiles } from '../support/profiles.ts';
import type { Script } from '../support/scripted-agent.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

const secret = `hunter2-${secretCanary}/"q+&x`;
const words = Array.from({ length: 40 }, (_, n) => `word${n} `);
const thought = (text: string) => ({
  update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } },
});
const tool = (fields: object) => ({ update: { sessionUpdate: 'tool_call_update', toolCallId: 't1', ...fields } });
const output = (text: string) => [{ type: 'content', content: { type: 'text', text } }];
const encodings = (value: string) => [
  value,
  Buffer.from(value).toString('base64'),
  JSON.stringify(value),
  encodeURIComponent(value),
];
const long = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(4, '0')}${'é漢 x'.repeat(499)}`);

const prompt = (...steps: Script[string]): Script => ({ 'session/prompt': [...steps, endTurn] });

let test: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles(
    {},
    scriptedProfile('writer', prompt(...streamOf(words, 20))),
    scriptedProfile('slow', prompt(...streamOf(words.slice(0, 10), 20), { wait: 'cancel' })),
    scriptedProfile(
      'leaker',
      prompt(...encodings(secret).flatMap((text) => streamOf([...`so ${text} is it. `], 4)), {
        write: [messageChunk('end')],
      }),
    ),
    scriptedProfile(
      'thinker',
      prompt(
        { write: [thought('I ')] },
        { sleepMs: 120 },
        { write: [thought('think')] },
        { sleepMs: 120 },
        { write: [messageChunk('so')] },
      ),
    ),
    scriptedProfile(
      'runner',
      prompt(
        { write: [tool({ sessionUpdate: 'tool_call', title: 'run', kind: 'execute', status: 'in_progress' })] },
        ...Array.from({ length: 12 }, (_, n): Script[string] => [
          {
            write: [
              tool({ content: output(Array.from({ length: n + 1 }, (_each, line) => `line ${line}\n`).join('')) }),
            ],
          },
          { sleepMs: 40 },
        ]).flat(),
        { write: [tool({ content: output('other') })] },
        { sleepMs: 120 },
        { write: [tool({ status: 'completed', content: output('other output') })] },
      ),
    ),
    scriptedProfile('long', prompt(...streamOf(long, 30), { sleepMs: 400 })),
    scriptedProfile(
      'flood',
      prompt({ write: Array.from({ length: 4_000 }, (_, n) => messageChunk(`${n} ${'flood '.repeat(20)}`)) }),
    ),
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 8 });
});
afterAll(() => test.close());

const start = (agent: string, more: object = {}) => createSession(test, { prompt: 'go', agent, ...more });
const isOver = ({ entries }: LiveView) => entries.some(({ phase }) => phase === 'STOPPED');
const texts = (view: LiveView) => view.entries.filter(({ kind }) => kind === 'MESSAGE').map(({ body }) => body);

it('sends a message in parts while it is written, then its entry', async () => {
  const view = new LiveView();
  await showUntil(view, followLive(test, test.adminToken, await start('writer')), isOver);
  expect(texts(view)).toEqual(['go', words.join('')]);
  view.requireConsistent();
  const [states = []] = [...view.shown.values()];
  expect(view.shown.size).toBe(1);
  expect(states.length).toBeGreaterThan(4);
  expect(states.at(-1)?.text).toBe(words.join(''));
  expect(view.drafts.size).toBe(0);
});

it('sends a later subscriber the open draft from its beginning, over server-sent events too', async () => {
  const id = await start('slow');
  const all = words.slice(0, 10).join('');
  const isWhole = ({ drafts }: LiveView) => [...drafts.values()].some(({ text }) => text === all);
  await showUntil(new LiveView(), followLive(test, test.adminToken, id), isWhole);
  const late = new LiveView();
  const following = followLive(test, test.adminToken, id);
  await showUntil(late, following, isWhole);
  expect(late.entries.map(({ kind }) => kind)).toEqual(['STATUS', 'MESSAGE', 'STATUS', 'TURN', 'STATUS']);
  following.stop();
  const again = new LiveView();
  await showUntil(again, followLive(test, test.adminToken, id, late.after), isWhole);
  expect(again.entries).toEqual([]);
  const events = new LiveView();
  const stream = await openStream(test.url, test.adminToken, sessionLive, { id, after: late.after });
  await showUntil(events, stream, isWhole);
  expect(events.entries).toEqual([]);
});

it('shows no secret that arrives one character at a time', async () => {
  const view = new LiveView();
  const id = await start('leaker', { sessionSecrets: [{ key: 'LEAK', value: secret }] });
  await showUntil(view, followLive(test, test.adminToken, id), isOver);
  view.requireConsistent();
  const states = [...view.shown.values()].flat().map(({ text }) => text);
  expect(states.length).toBeGreaterThan(5);
  for (const text of states) for (const form of encodings(secret)) expect(text).not.toContain(form.slice(1, 9));
  expect(texts(view)[1]?.match(/\*{8}/g)).toHaveLength(encodings(secret).length);
});

it('sends thoughts, and the output of tools until their calls end', async () => {
  const thinking = new LiveView();
  await showUntil(thinking, followLive(test, test.adminToken, await start('thinker')), isOver);
  thinking.requireConsistent();
  expect(thinking.entries.filter(({ kind }) => kind === 'THOUGHT')).toMatchObject([
    { body: 'I think', draftId: [...thinking.shown.keys()][0] },
  ]);
  const running = new LiveView();
  await showUntil(running, followLive(test, test.adminToken, await start('runner')), isOver);
  const calls = running.entries.filter(({ kind }) => kind === 'TOOL_CALL');
  const draftId = calls.at(-1).draftId as string;
  const states = running.shown.get(draftId)?.map(({ text }) => text) ?? [];
  expect(states.some((text) => /^(line \d+\n){5,}$/.test(text))).toBe(true);
  expect(states.at(-1)).toBe('other output');
  expect(calls.at(-1)).toMatchObject({ toolStatus: 'COMPLETED', output: 'other output' });
  expect(running.drafts.size).toBe(0);
});

it('sends a later subscriber the last 64 KB of a longer draft', async () => {
  const id = await start('long');
  const isNearEnd = ({ shown }: LiveView) =>
    [...shown.values()].flat().some(({ text, start: at }) => at + text.length > 100_000);
  const first = new LiveView();
  const following = followLive(test, test.adminToken, id);
  await showUntil(first, following, isNearEnd);
  const late = new LiveView();
  await Promise.all([
    showUntil(late, followLive(test, test.adminToken, id), isOver),
    showUntil(first, following, isOver),
  ]);
  for (const view of [first, late]) view.requireConsistent();
  const [state] = late.shown.values().next().value ?? [];
  expect(state?.start).toBeGreaterThan(0);
  expect(Buffer.byteLength(state?.text ?? '')).toBeLessThanOrEqual(64 * 1_024);
  expect(texts(first)[1]).toBe(long.join(''));
});

it('sends few parts of a flood', async () => {
  const view = new LiveView();
  await showUntil(view, followLive(test, test.adminToken, await start('flood')), isOver);
  view.requireConsistent();
  const states = [...view.shown.values()].flat();
  expect(states.length).toBeLessThan(400);
  expect(texts(view).slice(1).join('')).toHaveLength(
    Array.from({ length: 4_000 }, (_, n) => `${n} ${'flood '.repeat(20)}`).join('').length,
  );
});

it('refuses viewers of other organizations like an unknown session', async () => {
  const { token } = await makeOrganization(test, 'Others');
  const id = await start('slow');
  expect(await followLive(test, token, id).errors()).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
  expect(await followLive(test, test.adminToken, '0'.repeat(32)).errors()).toMatchObject([
    { extensions: { code: 'NOT_FOUND' } },
  ]);
});

it('watches a session only as long as somebody follows it', async () => {
  const id = await start('slow');
  const { live } = test.app.watches;
  await expect.poll(() => live.count()).toBe(0);
  const following = followLive(test, test.adminToken, id);
  await showUntil(new LiveView(), following, ({ drafts }) => drafts.size > 0);
  expect(live.count()).toBe(1);
  following.stop();
  await expect.poll(() => live.count()).toBe(0);
  const stream = await openStream(test.url, test.adminToken, sessionLive, { id });
  await stream.take(1);
  expect(live.count()).toBe(1);
  stream.abort();
  await expect.poll(() => live.count()).toBe(0);
});
