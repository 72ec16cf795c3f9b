import { describe, expect, it } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { createAutomation, makeAutomatic, recurring } from '../support/automations.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const daily = (hour: number, minute: number) => `FREQ=DAILY;BYHOUR=${hour};BYMINUTE=${minute};BYSECOND=0`;

describe('the next five occurrences around a clock change', () => {
  it.each([
    // Each row: the zone, the rule, now, and the occurrences; the second one is on the day of the change.
    [
      'Europe/Berlin, 02:30, clocks put forward',
      'Europe/Berlin',
      daily(2, 30),
      '2026-03-27T12:00Z',
      ['03-28T01:30', '03-29T01:30', '03-30T00:30', '03-31T00:30', '04-01T00:30'],
    ],
    [
      'Europe/Berlin, 02:30, clocks put back',
      'Europe/Berlin',
      daily(2, 30),
      '2026-10-23T12:00Z',
      ['10-24T00:30', '10-25T00:30', '10-26T01:30', '10-27T01:30', '10-28T01:30'],
    ],
    [
      'Australia/Sydney, 02:30, clocks put forward',
      'Australia/Sydney',
      daily(2, 30),
      '2026-10-02T00:00Z',
      ['10-02T16:30', '10-03T16:30', '10-04T15:30', '10-05T15:30', '10-06T15:30'],
    ],
    [
      'Australia/Sydney, 02:30, clocks put back',
      'Australia/Sydney',
      daily(2, 30),
      '2026-04-03T00:00Z',
      ['04-03T15:30', '04-04T15:30', '04-05T16:30', '04-06T16:30', '04-07T16:30'],
    ],
    [
      'America/Santiago, where a midnight is left out',
      'America/Santiago',
      daily(0, 0),
      '2026-09-04T12:00Z',
      ['09-05T04:00', '09-06T04:00', '09-07T03:00', '09-08T03:00', '09-09T03:00'],
    ],
    [
      'Australia/Lord_Howe, which changes by half an hour',
      'Australia/Lord_Howe',
      daily(2, 15),
      '2026-10-02T00:00Z',
      ['10-02T15:45', '10-03T15:45', '10-04T15:15', '10-05T15:15', '10-06T15:15'],
    ],
    [
      'Europe/London, on Sundays',
      'Europe/London',
      'FREQ=WEEKLY;BYDAY=SU;BYHOUR=1;BYMINUTE=30;BYSECOND=0',
      '2026-03-16T00:00Z',
      ['03-22T01:30', '03-29T01:30', '04-05T00:30', '04-12T00:30', '04-19T00:30'],
    ],
    [
      'Asia/Kolkata, which changes nothing',
      'Asia/Kolkata',
      daily(9, 0),
      '2026-03-27T12:00Z',
      ['03-28T03:30', '03-29T03:30', '03-30T03:30', '03-31T03:30', '04-01T03:30'],
    ],
  ])('%s: both APIs return the same', async (_what, zone, rule, now, times) => {
    (test.app.services as { now: () => Date }).now = () => new Date(now.replace('Z', ':00.000Z'));
    const { organizationId, token } = await makeAutomatic(test);
    const fields = 'id automationId nextRuns nextRunAt triggers { ... on ScheduleTrigger { timeZone } }';
    const { automation } = await createAutomation(test, { triggers: [recurring(rule, zone)] }, token, fields);
    const wanted = times.map((time) => `2026-${time}:00.000Z`);
    expect(automation).toMatchObject({ nextRunAt: wanted[0], triggers: [{ timeZone: zone }] });
    expect(automation.nextRuns).toEqual(wanted);
    const path = `/v3/organizations/${organizationId}/automations/${automation.automationId}`;
    const { body } = await call(test, token, 'GET', path);
    expect(body.next_runs.map((at: number) => new Date(at * 1_000).toISOString())).toEqual(wanted);
    // Missed occurrences are omitted: all returned times are after now, on both sides of a clock change.
    (test.app.services as { now: () => Date }).now = () => new Date(wanted[1] ?? '');
    const query = 'query($id: ID!) { node(id: $id) { ... on Automation { nextRuns(count: 3) } } }';
    const { data } = await graphql(test, token, query, { id: automation.id });
    expect(data.node.nextRuns).toEqual(wanted.slice(2));
  });
});
