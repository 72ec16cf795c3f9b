import { expect, it } from 'vitest';
import { localTimes } from '../../../web/src/ui/local-times.ts';

const local = (time: string) =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(time));

it('shows the times in texts of the service in the time zone of the browser', () => {
  const text = 'Continues at 2026-01-31 12:03:04 UTC. Saved since 2026-02-01T00:00:00.000Z, not 2026-02-01.';
  const [first, second] = [local('2026-01-31T12:03:04Z'), local('2026-02-01T00:00:00Z')];
  expect(localTimes(text)).toBe(`Continues at ${first}. Saved since ${second}, not 2026-02-01.`);
});

it('leaves impossible times as they are', () => {
  expect(localTimes('At 2026-99-31 12:03:04 UTC')).toBe('At 2026-99-31 12:03:04 UTC');
});
