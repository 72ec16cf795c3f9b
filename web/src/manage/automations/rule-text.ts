import { ruleText as texts } from '../../texts/automation-form.ts';
import { dateFormat } from '../../ui/date.ts';
import { isTimed, type RuleFields, readRule, weekdays } from './rule.ts';

const list = new Intl.ListFormat('en');
const clock = dateFormat({ timeStyle: 'short', timeZone: 'UTC' });

/** Writes a time such as "09:30" on the clock of the browser's language, which its field for times has too. */
export const writeTime = (time: string): string => clock.format(new Date(`2000-01-01T${time}:00Z`));

/** Writes a recurrence rule in words: "Weekdays at 9:00 AM (Europe/Berlin)". Null: the fields of the form cannot express it. */
export function ruleText(rule: string, timeZone: string | null): string | null {
  const words = wordsOf(readRule(rule));
  return words === null || timeZone === null ? words : texts.inZone({ words, timeZone });
}

function wordsOf({ every, interval, time: entered, days, dayOfMonth }: RuleFields): string | null {
  const time = isTimed({ every }) ? writeTime(entered) : entered;
  switch (every) {
    case 'minutes':
      return texts.everyMinutes({ count: interval });
    case 'hours': {
      const minute = Number(time.split(':')[1]);
      return minute === 0 ? texts.everyHours({ count: interval }) : texts.everyHoursAt({ count: interval, minute });
    }
    case 'day':
      return texts.everyDays({ count: interval, time });
    case 'weekdays':
      return texts.onWeekdays({ time });
    case 'week': {
      const names = list.format(weekdays.flatMap(([day, name]) => (days.includes(day) ? [name] : [])));
      if (interval > 1) return texts.everyWeeks({ count: interval, days: names, time });
      return texts.onDays({ days: names, time });
    }
    case 'month':
      return dayOfMonth === -1
        ? texts.onLastDay({ count: interval, time })
        : texts.onDayOfMonth({ count: interval, day: dayOfMonth, time });
    case 'own':
      return null;
  }
}
