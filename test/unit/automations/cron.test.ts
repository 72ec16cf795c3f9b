import { describe, expect, it } from 'vitest';
import { rulesOfCron } from '../../../src/domain/automations/recurrence/cron.ts';

describe('a cron expression', () => {
  // Stored schedules contain these; libraries for cron refuse some of them.
  it.each([
    ['0 9 * * 1-5', ['FREQ=WEEKLY;INTERVAL=1;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0']],
    ['5/20 * * * *', ['FREQ=HOURLY;INTERVAL=1;BYMINUTE=5,25,45;BYSECOND=0']],
    ['0 0 * */13 *', ['FREQ=DAILY;INTERVAL=1;BYMONTH=1;BYHOUR=0;BYMINUTE=0;BYSECOND=0']],
    ['0 3-4/9 * * *', ['FREQ=DAILY;INTERVAL=1;BYHOUR=3;BYMINUTE=0;BYSECOND=0']],
    ['0 0 * * 7,sun', ['FREQ=WEEKLY;INTERVAL=1;BYDAY=SU;BYHOUR=0;BYMINUTE=0;BYSECOND=0']],
    ['@Daily', ['FREQ=DAILY;INTERVAL=1;BYHOUR=0;BYMINUTE=0;BYSECOND=0']],
  ])('%s becomes rules', (expression, rules) => {
    expect(rulesOfCron(expression, 1)).toEqual(rules);
  });

  it('may have any number in a list beside others', () => {
    expect(rulesOfCron('0 *,5 * * *', 1)).toEqual([
      `FREQ=DAILY;INTERVAL=1;BYHOUR=${Array.from({ length: 24 }, (_, hour) => hour).join(',')};BYMINUTE=0;BYSECOND=0`,
    ]);
  });

  it('becomes two rules for days of the month and of the week, of which either suffices', () => {
    expect(rulesOfCron('0 0 13 2 FRI', 3)).toEqual([
      'FREQ=YEARLY;INTERVAL=3;BYMONTH=2;BYMONTHDAY=13;BYHOUR=0;BYMINUTE=0;BYSECOND=0',
      'FREQ=WEEKLY;INTERVAL=3;BYMONTH=2;BYDAY=FR;BYHOUR=0;BYMINUTE=0;BYSECOND=0',
    ]);
  });

  // Libraries accept some of these.
  it.each([
    '0 0 L * *',
    '0 0 ? * *',
    '0 0 * * 1#2',
    '0 0 15W * *',
    'H * * * *',
    '* * * *',
    '0 * * * * *',
    '@minutely',
    '@reboot',
    '60 * * * *',
    '5-1 * * * *',
    '*/0 * * * *',
    '1,,2 * * * *',
    '٣ * * * *',
    '',
  ])('%j is refused', (expression) => {
    expect(rulesOfCron(expression, 1)).toBeNull();
  });
});
