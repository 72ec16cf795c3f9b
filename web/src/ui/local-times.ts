import { dateFormat } from './date.ts';

const format = dateFormat({ dateStyle: 'medium', timeStyle: 'medium' });
/** As the service writes times in texts: `2026-01-31 12:03:04 UTC` and `2026-01-31T12:03:04.000Z`. */
const times = /\b(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.\d{1,3})?(?: UTC\b|Z\b)/g;

/** Replaces the times in a text of the service, which are in UTC, by those of the browser's time zone. */
export function localTimes(text: string): string {
  return text.replace(times, (written, day: string, time: string) => {
    const at = new Date(`${day}T${time}Z`);
    return Number.isNaN(at.getTime()) ? written : format.format(at);
  });
}
