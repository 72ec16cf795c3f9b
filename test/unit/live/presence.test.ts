import { expect, it } from 'vitest';
import { createPresence, presenceMs } from '../../../src/domain/sessions/presence/presence.ts';
import { createLocalBroadcaster } from '../../../src/realtime/local-broadcaster.ts';

const alice = { userId: 'a'.repeat(32), serviceUserId: null, serviceKeyId: null };
const bob = { ...alice, userId: 'b'.repeat(32) };
const tab = (clientId: string, isTyping = false, hasLeft = false) => ({ clientId, isTyping, hasLeft });

const started = () => {
  const clock = { now: 0 };
  const broadcaster = createLocalBroadcaster((error) => {
    throw error;
  });
  const presence = createPresence(broadcaster, () => clock.now);
  presence.start();
  return { clock, broadcaster, presence };
};

it('lists each viewer once, until their clients leave or report nothing for 10 seconds', () => {
  const { clock, presence } = started();
  let changes = 0;
  presence.listen('s', () => changes++);
  presence.report('s', { ...alice, ...tab('1') });
  presence.report('s', { ...alice, ...tab('2', true) });
  presence.report('s', { ...bob, ...tab('1') });
  expect(presence.viewersOf('s')).toEqual([
    { ...alice, isTyping: true },
    { ...bob, isTyping: false },
  ]);
  expect(changes).toBe(3);
  presence.report('s', { ...bob, ...tab('1') });
  expect(changes).toBe(3);
  // A client id belongs to its principal.
  presence.report('s', { ...bob, ...tab('2', false, true) });
  presence.report('s', { ...alice, ...tab('2', false, true) });
  expect(presence.viewersOf('s')[0]).toEqual({ ...alice, isTyping: false });
  clock.now = presenceMs - 1;
  presence.report('s', { ...bob, ...tab('1') });
  clock.now = presenceMs;
  expect(presence.viewersOf('s')).toEqual([{ ...bob, isTyping: false }]);
  expect(presence.viewersOf('other')).toEqual([]);
  presence.stop();
});

it('ignores malformed reports, and more clients than it keeps', () => {
  const { broadcaster, presence } = started();
  for (const payload of ['', '{}', '[1,2,3,4,5]', `["${alice.userId}",null,null,"a b",0]`, `["x",null,null,"a",0]`]) {
    broadcaster.publish('presence', 's', payload);
  }
  expect(presence.viewersOf('s')).toEqual([]);
  for (let n = 0; n < 300; n++) {
    presence.report('s', { ...alice, userId: n.toString(16).padStart(32, '0'), ...tab('1') });
  }
  expect(presence.viewersOf('s').length).toBe(100);
  presence.stop();
});

it('keeps ten clients of a principal, so that one principal cannot hide the others', () => {
  const { clock, presence } = started();
  for (let n = 0; n < 300; n++) {
    clock.now = n;
    presence.report('s', { ...alice, ...tab(`tab${n}`, n === 0) });
  }
  presence.report('s', { ...bob, ...tab('1') });
  expect(presence.viewersOf('s')).toEqual([
    { ...alice, isTyping: false },
    { ...bob, isTyping: false },
  ]);
  presence.stop();
});
