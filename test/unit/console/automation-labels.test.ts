import { expect, it } from 'vitest';
import { listedEventTypes } from '../../../src/domain/automations/model/event-types.ts';
import { eventGroups, eventLabel } from '../../../web/src/manage/automations/labels.ts';

it('names every event that an automation can wait for in words, each differently', () => {
  const names = listedEventTypes.filter(({ hasSource }) => hasSource);
  const labels = names.map(({ name }) => eventLabel(name));
  expect(labels.filter((label) => label.includes(':') || label.includes('_'))).toEqual([]);
  expect(new Set(labels).size).toBe(labels.length);
  expect([eventLabel('github:issues'), eventLabel('gitlab:note'), eventLabel('session:blocked')]).toEqual([
    ...['Issue opened or changed (GitHub)', 'Comment (GitLab)', 'Session needs a reply'],
  ]);
  expect(eventLabel('slack:message')).toBe('slack:message');
});

it('groups the events by what sends them, each once', () => {
  const groups = eventGroups(['schedule:recurring', 'github:push', 'webhook:incoming', 'github:issues', 'github:push']);
  expect(groups).toEqual([
    { label: 'General', names: ['schedule:recurring', 'webhook:incoming'] },
    { label: 'GitHub', names: ['github:push', 'github:issues'] },
  ]);
});
