/** Maximum length of a file's name, in characters. */
const maxLength = 255;

/**
 * Returns the stored form of a file's name: the last part of a path of any system, even with encoded separators;
 * without control characters and characters that change the text direction; at most 255 characters, including the
 * extension. It is not used as a name on disk.
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
