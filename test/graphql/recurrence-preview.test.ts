import { describe, expect, it } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const document = `query($rule: String!, $timeZone: String, $count: Int) {
  recurrencePreview(rule: $rule, timeZone: $timeZone, count: $count) { times problem } }`;

const ask = (variables: object) => graphql(test, test.adminToken, document, { count: 5, ...variables });

describe('the preview of a rule', () => {
  it('shows the next occurrences, in the clock of a zone and in UTC', async () => {
    const rule = 'DTSTART:20980328T090000\nRRULE:FREQ=DAILY';
    const utc = await ask({ rule, count: 2 });
    expect(utc.data.recurrencePreview).toEqual({
      times: ['2098-03-28T09:00:00.000Z', '2098-03-29T09:00:00.000Z'],
      problem: null,
    });
    const berlin = await ask({ rule, timeZone: 'Europe/Berlin' });
    expect(berlin.data.recurrencePreview.times).toEqual([
      '2098-03-28T08:00:00.000Z',
      '2098-03-29T08:00:00.000Z',
      '2098-03-30T07:00:00.000Z',
      '2098-03-31T07:00:00.000Z',
      '2098-04-01T07:00:00.000Z',
    ]);
  });

  it('returns the problem of an invalid rule without an error', async () => {
    for (const [variables, problem] of [
      [{ rule: 'FREQ=MINUTELY' }, /more often than every 15 minutes/],
      [{ rule: 'FREQ=DAILY;COUNT=0' }, /never fires/],
      [{ rule: 'every day' }, /FREQ|RRULE|rule/],
      [{ rule: 'FREQ=DAILY', timeZone: 'Mars/Olympus' }, /time zone/],
    ] as const) {
      const { data, errors } = await ask(variables);
      expect(errors).toBeUndefined();
      expect(data.recurrencePreview).toEqual({ times: [], problem: expect.stringMatching(problem) });
    }
  });

  it('is bounded, costs by the number of occurrences, and needs a key', async () => {
    const { errors } = await ask({ rule: 'FREQ=DAILY', count: 21 });
    expect(errors?.[0].extensions.code).toBe('INVALID_INPUT');
    const query = '{ recurrencePreview(rule: "FREQ=DAILY", count: 20) { times } }';
    const { body } = await call(test, test.adminToken, 'POST', '/graphql', { query });
    expect(body.extensions.cost).toBe(200);
    expect((await call(test, null, 'POST', '/graphql', { query })).status).toBe(401);
  });
});
