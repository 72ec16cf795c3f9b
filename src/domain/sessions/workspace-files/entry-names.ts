import { isUtf8 } from 'node:buffer';

/** Returns the text of a name of one character for each byte (latin1). A byte that is not UTF-8 is written as `\xNN`. */
export function decodeName(bytes: string): string {
  // Most names are ASCII.
  if (!/[\x80-\xff]/.test(bytes)) return bytes;
  const all = Buffer.from(bytes, 'latin1');
  if (isUtf8(all)) return all.toString('utf8');
  let text = '';
  for (let at = 0; at < all.length; ) {
    const length = [1, 2, 3, 4].find((count) => at + count <= all.length && isUtf8(all.subarray(at, at + count))) ?? 0;
    text += length > 0 ? all.toString('utf8', at, at + length) : `\\x${all.toString('hex', at, at + 1)}`;
    at += Math.max(1, length);
  }
  return text;
}

/** True if {@link decodeName} returns the name unchanged but for its encoding. */
export const isTextName = (bytes: string): boolean => isUtf8(Buffer.from(bytes, 'latin1'));
