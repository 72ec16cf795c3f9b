import { ruleText as texts } from '../../texts/automation-form.ts';
import { type RuleFields, readRule, weekdays } from './rule.ts';

const list = new Intl.ListFormat('en');

/** Writes a recurrence rule in words: "Weekdays at 09:00 (Europe/Berlin)". Null: the fields of the form cannot express it. */
export function ruleText(rule: string, timeZone: string | null): string | null {
  const words = wordsOf(readRule(rule));
  return words === null || timeZone === null ? words : texts.inZone({ words, timeZone });
}

function wordsOf({ every, interval, time, days, dayOfMonth }: RuleFields): string | null {
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
