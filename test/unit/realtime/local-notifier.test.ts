import { expect, it } from 'vitest';
import { createLocalNotifier } from '../../../src/realtime/local-notifier.ts';

it('calls every subscriber of the topic, and nobody else', () => {
  const notifier = createLocalNotifier(() => undefined);
  const received: string[] = [];
  notifier.subscribe('session:a', () => received.push('first'));
  notifier.subscribe('session:a', () => received.push('second'));
  notifier.subscribe('session:b', () => received.push('other'));
  notifier.notify('session:a');
  expect(received).toEqual(['first', 'second']);
});

it('calls the others when one listener throws', () => {
  const errors: unknown[] = [];
  const notifier = createLocalNotifier((error) => errors.push(error));
  const failure = new Error('mine');
  let calls = 0;
  notifier.subscribe('runs', () => {
    throw failure;
  });
  notifier.subscribe('runs', () => {
    calls += 1;
  });
  notifier.notify('runs');
  expect(calls).toBe(1);
  expect(errors).toEqual([failure]);
});

it('drops a listener that unsubscribed, also during a call, and allows this twice', () => {
  const notifier = createLocalNotifier(() => undefined);
  let calls = 0;
  const listener = () => {
    calls += 1;
    unsubscribe();
  };
  const unsubscribe = notifier.subscribe('keys', listener);
  const unsubscribeTwin = notifier.subscribe('keys', listener);
  expect(notifier.listenerCount()).toBe(2);
  notifier.notify('keys');
  notifier.notify('keys');
  expect(calls).toBe(3);
  unsubscribe();
  unsubscribeTwin();
  expect(notifier.listenerCount()).toBe(0);
});
