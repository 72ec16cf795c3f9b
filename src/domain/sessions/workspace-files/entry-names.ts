import { isUtf8 } from 'node:buffer';

/** Returns the text of a name of one character for each byte (latin1). A byte that is not UTF-8 is written as `\xNN`. */
export function decodeName(bytes: string): string {
  if (isAscii(bytes)) return bytes;
  const all = Buffer.from(bytes, 'latin1');
  if (isUtf8(all)) return all.toString('utf8');
  let text = '';
  let valid = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    at += Math.max(1, length);
    if (length > 0) continue;
    text += `${all.toString('utf8', valid, at - 1)}\\x${all.toString('hex', at - 1, at)}`;
    valid = at;
  }
  return text + all.toString('utf8', valid);
}

/** Returns the length of the UTF-8 sequence at a position; 0: there is none (Unicode 15, table 3-7). An agent may write millions of such names. */
function sequenceLength(bytes: string, at: number): number {
  const lead = bytes.charCodeAt(at);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const first = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const last = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let next = 1; next < length; next++) {
    const byte = bytes.charCodeAt(at + next);
    const isIn = next === 1 ? byte >= first && byte <= last : byte >= 0x80 && byte <= 0xbf;
    if (!isIn) return 0;
  }
  return length;
}

/** True if {@link decodeName} returns the name unchanged but for its encoding. */
export const isTextName = (bytes: string): boolean => isAscii(bytes) || isUtf8(Buffer.from(bytes, 'latin1'));

/** Returns the bytes of a name that is text: the inverse of {@link decodeName}. */
export const encodeName = (name: string): string => (isAscii(name) ? name : Buffer.from(name).toString('latin1'));

// Most names are.
const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);
