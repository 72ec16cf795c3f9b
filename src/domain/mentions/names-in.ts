// A whole name after "@" that is neither a part of an address, a path or a team, nor escaped.
const mention = /(?<![\p{L}\p{N}_@/.\\-])@([A-Za-z0-9][A-Za-z0-9_.-]{0,99})(?![A-Za-z0-9_.@/-])/gu;

/**
 * Returns the names that a text of Markdown addresses as `@name`, in lower case. Names in code, in quoted lines and in HTML
 * comments do not count: there, a text repeats or shows something. Where the text is ambiguous, a name does not count.
 */
export function namesIn(markdown: string): ReadonlySet<string> {
  const names = [...plainPart(markdown).matchAll(mention)].map(([, name = '']) => name.replace(/[._-]+$/, ''));
  return new Set(names.map((name) => name.toLowerCase()));
}

function plainPart(markdown: string): string {
  const lines: string[] = [];
  let fence: string | null = null;
  // A line right after a quoted one continues the quotation.
  let isQuoted = false;
  for (const line of markdown.split(/\r\n?|\n/)) {
    const [, marker = '', info = ''] = /^[\s>]*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence !== null) {
      // The line that ends a fence has nothing else.
      if (marker.startsWith(fence) && info.trim() === '') fence = null;
      continue;
    }
    if (marker !== '') {
      fence = marker;
      continue;
    }
    isQuoted = /^\s*(?:[-*+]\s+|\d+[.)]\s+)*>/.test(line) || (isQuoted && line.trim() !== '');
    if (!isQuoted && !/^(?: {4}|\t)/.test(line)) lines.push(line);
  }
  // An unclosed comment hides the rest. Code spans end at the same number of backticks.
  return lines
    .join('\n')
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, ' ')
    .replaceAll(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, ' ')
    .replaceAll(/<(code|pre)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ');
}
