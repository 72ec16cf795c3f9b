/** The longest name of a file, in characters. */
const maxLength = 255;

/**
 * A file's name as it is kept: the last part of a path, whichever system's, also with its separators encoded; no control
 * characters and none that turn text around; at most 255 characters, of which the ending stays. It names nothing on disk.
 */
export function cleanFileName(name: string): string {
  const last = name
    .toWellFormed()
    .replaceAll(/%2f|%5c/gi, '/')
    .split(/[/\\]/)
    .at(-1) as string;
  const clean = last.replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '').trim();
  return /^\.*$/.test(clean) ? 'file' : shorten(clean);
}

function shorten(name: string): string {
  const characters = [...name];
  if (characters.length <= maxLength) return name;
  const ending = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? '';
  return characters.slice(0, maxLength - ending.length).join('') + ending;
}
