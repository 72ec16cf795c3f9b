import { useEffect, useState } from 'react';
import { time as texts } from '../texts/ui.ts';
import { dateFormat } from './date.ts';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'narrow' });
const absolute = dateFormat({ dateStyle: 'medium', timeStyle: 'medium' });
const minute = dateFormat({ dateStyle: 'medium', timeStyle: 'short' });
const steps = [
  ['year', 365 * 24 * 3_600],
  ['month', 30 * 24 * 3_600],
  ['day', 24 * 3_600],
  ['hour', 3_600],
  ['minute', 60],
] as const;

// One timer for all components that show relative times.
const listeners = new Set<() => void>();
window.setInterval(() => {
  for (const each of listeners) each();
}, 30_000);

function useMinutes(): void {
  const [, tick] = useState(0);
  useEffect(() => {
    const listener = () => tick((before) => before + 1);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
}

/** A relative time in a few letters. */
export function ago(at: string): string {
  const seconds = (Date.parse(at) - Date.now()) / 1_000;
  for (const [unit, length] of steps) {
    if (Math.abs(seconds) >= length) return relative.format(Math.round(seconds / length), unit);
  }
  return texts.justNow;
}

/** A date and time to the minute, with the relative time below it and the exact time as its tooltip. */
export function DateTime({ at }: { readonly at: string }) {
  useMinutes();
  return (
    <time className="date-time" dateTime={at} title={absolute.format(new Date(at))}>
      {minute.format(new Date(at))}
      <span className="under">{ago(at)}</span>
    </time>
  );
}

/** A relative time, with the exact time as its tooltip. */
export function Time({ at }: { readonly at: string }) {
  useMinutes();
  return (
    <time dateTime={at} title={absolute.format(new Date(at))}>
      {ago(at)}
    </time>
  );
}
