import { expect, it } from 'vitest';
import { ruleText } from '../../../web/src/manage/automations/rule-text.ts';

it.each([
  ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0', 'Weekdays at 9:00 AM (Europe/Berlin)'],
  ['FREQ=WEEKLY;BYDAY=MO,TH;BYHOUR=9;BYMINUTE=5;BYSECOND=0', 'Every Monday and Thursday at 9:05 AM (Europe/Berlin)'],
  [
    'FREQ=WEEKLY;INTERVAL=2;BYDAY=SU;BYHOUR=9;BYMINUTE=0;BYSECOND=0',
    'Every 2 weeks on Sunday at 9:00 AM (Europe/Berlin)',
  ],
  ['FREQ=DAILY;BYHOUR=7;BYMINUTE=30;BYSECOND=0', 'Every day at 7:30 AM (Europe/Berlin)'],
  ['FREQ=DAILY;INTERVAL=3;BYHOUR=7;BYMINUTE=30;BYSECOND=0', 'Every 3 days at 7:30 AM (Europe/Berlin)'],
  ['FREQ=HOURLY;BYMINUTE=0;BYSECOND=0', 'Every hour (Europe/Berlin)'],
  ['FREQ=HOURLY;INTERVAL=4;BYMINUTE=15;BYSECOND=0', 'Every 4 hours, at minute 15 (Europe/Berlin)'],
  ['FREQ=MINUTELY;INTERVAL=30;BYSECOND=0', 'Every 30 minutes (Europe/Berlin)'],
  ['FREQ=MONTHLY;BYMONTHDAY=5;BYHOUR=8;BYMINUTE=0;BYSECOND=0', 'On day 5 of every month at 8:00 AM (Europe/Berlin)'],
  [
    'FREQ=MONTHLY;INTERVAL=2;BYMONTHDAY=-1;BYHOUR=8;BYMINUTE=0;BYSECOND=0',
    'On the last day of every 2 months at 8:00 AM (Europe/Berlin)',
  ],
])('writes %s as words', (rule, text) => {
  // Versions of ICU differ in the space before AM.
  expect(ruleText(rule, 'Europe/Berlin')?.replace(/\s/g, ' ')).toBe(text);
});

it('has no words for a rule that the form cannot express', () => {
  expect(ruleText('FREQ=YEARLY;BYMONTH=1,6;BYDAY=-1FR', null)).toBe(null);
  expect(ruleText('FREQ=DAILY;BYHOUR=7,9;BYMINUTE=30;BYSECOND=0', null)).toBe(null);
});
