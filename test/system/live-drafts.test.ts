import { afterAll, beforeAll, expect, it } from 'vitest';
import { authenticate } from '../../src/auth/authenticate.ts';
import { DraftChunk } from '../../src/domain/sessions/live/live-draft.ts';
import { watchLiveFrom } from '../../src/domain/sessions/live/watch-live.ts';
import { sessionLog } from '../../src/domain/sessions/log-source.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { endTurn, followLive, LiveView, scriptedProfile, sessionLive, showUntil, streamOf } from '../support/live.ts';
import { writeProfiles } from '../support/profiles.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const words = Array.from({ length: 60 }, (_, n) => `word${n} `);
const all = words.join('');

// Two processes for the API and one worker, or all in one on the embedded database.
let first: TestApp;
let second: TestApp;
let worker: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles(
    {},
    scriptedProfile('writer', { 'session/prompt': [...streamOf(words, 20), endTurn] }),
    // Others can join meanwhile, also on a busy machine.
    scriptedProfile('slow-writer', { 'session/prompt': [...streamOf(words, 80), endTurn] }),
    scriptedProfile('endless', {
      'session/prompt': [...streamOf(Array<string>(1_500).fill('more and more '), 20), endTurn],
    }),
    scriptedProfile('much', {
      'session/prompt': [...streamOf(Array<string>(100).fill('much '.repeat(400)), 30), { wait: 'cancel' }],
    }),
    scriptedProfile('crasher', { 'session/prompt': [...streamOf(words.slice(0, 20), 20), { exit: 1 }] }),
  );
  if (testDatabase !== 'postgres') {
    worker = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 8 });
    [first, second] = [worker, worker];
    return;
  }
  first = await startApp({ roles: ['api'], agentsConfig });
  second = await first.another({ roles: ['api'], agentsConfig });
  worker = await first.another({ roles: ['worker'], agentsConfig, maxConcurrentSessions: 8 });
});
afterAll(async () => {
  if (worker !== first) {
    await worker.close();
    await second.close();
  }
  await first.close();
});

const start = (agent: string, more: object = {}, token = first.adminToken) =>
  createSession(first, { prompt: 'go', agent, ...more }, token);
const isOver = ({ entries }: LiveView) => entries.some(({ phase }) => phase === 'STOPPED');
const hasDraft = ({ drafts }: LiveView) => [...drafts.values()].some(({ text }) => text !== '');
const shownBy = (view: LiveView) => [...view.shown.values()].flat().map(({ text }) => text);

it('shows the drafts of a worker in every process, and to those who join late from the beginning', async () => {
  const id = await start('slow-writer');
  const views = [new LiveView(), new LiveView(), new LiveView(), new LiveView()] as const;
  const [early, other, late, events] = views;
  const following = followLive(first, first.adminToken, id);
  await showUntil(early, following, (view) => shownBy(view).some((text) => text.length > 100));
  await Promise.all([
    showUntil(early, following, isOver),
    showUntil(other, followLive(second, first.adminToken, id), isOver),
    showUntil(late, followLive(first, first.adminToken, id), isOver),
    showUntil(events, await openStream(second.url, first.adminToken, sessionLive, { id }), isOver),
  ]);
  for (const view of views) {
    view.requireConsistent();
    expect(view.entries.filter(({ kind }) => kind === 'MESSAGE').map(({ body }) => body)).toEqual(['go', all]);
    expect(shownBy(view).at(-1)).toBe(all);
  }
  for (const view of [late, other, events]) expect(shownBy(view)[0]?.length).toBeGreaterThan(50);
  expect(early.entries).toEqual(events.entries);
});

it('resumes on the other process: every entry once, and the open drafts from the beginning', async () => {
  const id = await start('writer');
  const view = new LiveView();
  for (let n = 0; !isOver(view); n++) {
    const target = n % 2 === 0 ? first : second;
    const following = followLive(target, first.adminToken, id, view.after);
    let left = 1 + (n % 5);
    await showUntil(view, following, () => isOver(view) || left-- === 0);
    following.stop();
    view.reconnect();
  }
  view.requireConsistent();
  expect(view.entries.filter(({ kind }) => kind === 'MESSAGE').map(({ body }) => body)).toEqual(['go', all]);
});

it('discards the drafts of a run that fails', async () => {
  const view = new LiveView();
  await showUntil(view, followLive(second, first.adminToken, await start('crasher')), ({ entries }) =>
    entries.some(({ kind }) => kind === 'ERROR'),
  );
  view.requireConsistent();
  expect(shownBy(view).length).toBeGreaterThan(2);
  // The text so far is in the log.
  expect(view.entries.find(({ kind, draftId }) => kind === 'MESSAGE' && draftId)?.body).toBe(
    words.slice(0, 20).join(''),
  );
  expect(view.drafts.size).toBe(0);
});

it('sends no draft to a viewer who has lost access, or whose key is revoked', async () => {
  const { organizationId, serviceUserId, token } = await makeOrganization(first, 'Leaving live');
  const id = await start('endless', { organizationId }, token);
  const { data } = await graphql(
    first,
    first.adminToken,
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { apiKeyId } token } }',
    { input: { kind: { serviceUser: { serviceUserId } }, name: 'another' } },
  );
  const { apiKey, token: otherToken } = data.createApiKey;
  const [member, other, events] = [new LiveView(), new LiveView(), new LiveView()];
  const [memberFollowing, otherFollowing] = [followLive(second, token, id), followLive(second, otherToken, id)];
  const stream = await openStream(second.url, token, sessionLive, { id });
  await Promise.all([
    showUntil(member, memberFollowing, hasDraft),
    showUntil(other, otherFollowing, hasDraft),
    showUntil(events, stream, hasDraft),
  ]);
  await graphql(
    first,
    first.adminToken,
    'mutation($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { userErrors { message } } }',
    { input: { apiKeyId: apiKey.apiKeyId } },
  );
  expect(await otherFollowing.ended).toMatchObject({ code: 4403 });
  const path = `/v3/enterprise/organizations/${organizationId}/members/service-users/${serviceUserId}`;
  expect((await call(first, first.adminToken, 'DELETE', path)).status).toBe(200);
  // No entry is written: the next chunk of a draft ends it.
  expect(await memberFollowing.ended).toBe('complete');
  await stream.rest();
  const { watches } = second.app;
  await expect.poll(() => watches.live.count()).toBe(0);
});

it('sends a slow client one larger part instead of many, and no other client waits for it', async () => {
  const id = await start('much');
  const { services, watches } = second.app;
  const viewer = await authenticate(services, first.adminToken, null);
  const log = sessionLog(id, { messagesOnly: false, kinds: null });
  const items = watchLiveFrom({ ...services, viewer, address: null }, watches, { log, after: 0 });
  const nextChunk = async () => {
    for (;;) {
      const { value } = await items.next();
      if (value instanceof DraftChunk) return value;
    }
  };
  await nextChunk();
  const length = 'much '.length * 40_000;
  const isWhole = ({ drafts }: LiveView) =>
    [...drafts.values()].some(({ text, start: at }) => at + text.length === length);
  await showUntil(new LiveView(), followLive(second, first.adminToken, id), isWhole);
  const { offset, text, isTruncated } = await nextChunk();
  expect([offset + text.length, isTruncated]).toEqual([length, true]);
  expect(text.length).toBeLessThanOrEqual(64 * 1_024);
  await items.return?.();
});

it('takes no harm from malformed messages', async () => {
  const id = await start('writer');
  const view = new LiveView();
  const following = followLive(second, first.adminToken, id);
  await showUntil(view, following, hasDraft);
  for (const { app } of new Set([first, second, worker])) {
    const { broadcaster } = app.services;
    for (const payload of ['', '{', 'null', '[1]', '[1,2,3,4,5,6,7,8]', '"x"', `${'['.repeat(2_000)}`]) {
      broadcaster.publish('draft', id, payload);
      for (const act of ['watch', 'unwatch', 'again', 'who', 'other']) broadcaster.publish('watch', act, payload);
    }
  }
  await showUntil(view, following, isOver);
  view.requireConsistent();
});

it('sends nothing of a session that nobody watches', async () => {
  const sent: string[] = [];
  const stop = worker.app.services.broadcaster.subscribeAll('draft', (payload) => sent.push(payload));
  const id = await start('writer');
  const following = followLive(first, first.adminToken, id);
  await following.take(1);
  following.stop();
  await expect.poll(() => first.app.watches.live.count()).toBe(0);
  await say(first, id, 'unrelated');
  await expect
    .poll(async () => {
      const { data } = await graphql(first, first.adminToken, 'query($id: ID!) { session(id: $id) { status } }', {
        id,
      });
      return data.session.status;
    })
    .toBe('EXIT');
  stop();
  expect(sent.length).toBeLessThan(15);
});
