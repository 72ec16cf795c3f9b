import type { LogTail } from '../interface/pull-requests.ts';
import { plainText } from './text.ts';

/** Bytes of a log that are read to find its last lines. */
export const logTailBytes: number = 256 * 1024;
const maxCharacters = 200 * 1024;
const maxLines = 5_000;

/** Returns the last lines of a log, without the time that GitHub writes before each line. */
export function tailOf(log: { readonly text: string; readonly isTail: boolean }, lines: number): LogTail {
  const text = plainText(log.text, 2 * logTailBytes).replaceAll(/^\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,18}Z /gm, '');
  const all = text.replace(/\n+$/, '').split('\n');
  const last = all
    .slice(-Math.min(Math.max(lines, 1), maxLines))
    .join('\n')
    .slice(-maxCharacters)
    .toWellFormed();
  return { text: last, isTruncated: log.isTail || last.length < text.replace(/\n+$/, '').length };
}
