import { expect, it } from 'vitest';
import { createLocalBell } from '../../src/events/local-bell.ts';

it('calls everybody who listens to the topic, and nobody else', () => {
  const bell = createLocalBell(() => undefined);
  const heard: string[] = [];
  bell.on('session:a', () => heard.push('first'));
  bell.on('session:a', () => heard.push('second'));
  bell.on('session:b', () => heard.push('other'));
  bell.ring('session:a');
  expect(heard).toEqual(['first', 'second']);
});

it('calls the others when one listener throws', () => {
  const errors: unknown[] = [];
  const bell = createLocalBell((error) => errors.push(error));
  const failure = new Error('mine');
  let calls = 0;
  bell.on('runs', () => {
    throw failure;
  });
  bell.on('runs', () => {
    calls += 1;
  });
  bell.ring('runs');
  expect(calls).toBe(1);
  expect(errors).toEqual([failure]);
});

it('forgets a listener that stopped, also one that stops while it is called, and can be told so twice', () => {
  const bell = createLocalBell(() => undefined);
  let calls = 0;
  const listener = () => {
    calls += 1;
    stop();
  };
  const stop = bell.on('keys', listener);
  const stopTwin = bell.on('keys', listener);
  expect(bell.listenerCount()).toBe(2);
  bell.ring('keys');
  bell.ring('keys');
  expect(calls).toBe(3);
  stop();
  stopTwin();
  expect(bell.listenerCount()).toBe(0);
});
