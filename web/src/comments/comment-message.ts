import { commentMessage as texts } from '../texts/comments.ts';
import { visible } from '../ui/visible.ts';
import type { LineComment } from './line-comment.ts';

/** Writes the message that has a text, which may be empty, and the comments in the order of their files and lines. */
export function writeMessage(text: string, comments: readonly LineComment[]): string {
  const ordered = comments.toSorted(
    (a, b) => compare(a.directory, b.directory) || compare(a.path, b.path) || a.start - b.start,
  );
  return [text, ...ordered.map(writeComment)].filter((part) => part !== '').join('\n\n');
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));

function writeComment(comment: LineComment): string {
  const { directory, isOnlyRepository, path, start, end, text } = comment;
  const heading = texts.heading({
    path: codeSpan(path),
    repository: isOnlyRepository ? '' : texts.inDirectory({ directory: codeSpan(directory) }),
    lines:
      start === end ? texts.line({ line: String(start) }) : texts.lines({ start: String(start), end: String(end) }),
    version: versionOf(comment),
  });
  return [heading, quote(comment), text].join('\n\n');
}

function versionOf({ side, turn, isOutdated }: LineComment): string {
  const version = turn === null ? sides[side] : turnSides[side]({ turn: String(turn) });
  return isOutdated ? texts.outdated({ version }) : version;
}

const sides = { old: texts.oldVersion, new: texts.newVersion } as const;
const turnSides = { old: texts.beforeTurn, new: texts.afterTurn } as const;

/**
 * Quotes lines in a fence that is longer than any in them. Each line begins with its number: as a line of a message of its
 * own, it could attach a file.
 */
function quote({ quoted, start, end }: LineComment): string {
  const width = String(end).length;
  const lines = quoted.map((line, index) => `${String(start + index).padStart(width)} | ${line}`);
  const more = end - start + 1 - quoted.length;
  if (more > 0) lines.push(texts.moreLines({ count: more }));
  const fence = '`'.repeat(Math.max(3, maxRun(quoted.join('\n')) + 1));
  return [fence, ...lines, fence].join('\n');
}

/** Writes a name as code in a line, whatever it contains. A name such as `!ready` is not a macro there. */
function codeSpan(name: string): string {
  const text = visible(name.replace(/[\r\n\t]/g, ' ')).replace(/(?<![\w!/.\\-])!/g, '\\!');
  const ticks = '`'.repeat(maxRun(text) + 1);
  const space = /^[` ]|[` ]$/.test(text) ? ' ' : '';
  return ticks + space + text + space + ticks;
}

const maxRun = (text: string) => Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
