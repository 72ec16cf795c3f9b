/** A name, a comment or a string in a file of code, with its line. */
export interface Scanned {
  readonly text: string;
  readonly line: number;
}

/** The names, comments and strings of a file of code, without those in regular expressions. */
export interface ScannedCode {
  readonly names: readonly Scanned[];
  readonly comments: readonly Scanned[];
  /** Texts in quotes or in a template, and between JSX tags, with their marks. */
  readonly strings: readonly Scanned[];
}

const token =
  /(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)|(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?<name>[A-Za-z_$][\w$]*)|\d[\w.]*|\s+|[\s\S]/y;
const regex = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
/** The rest of a template, up to its end or to an expression. */
const template = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{|$)/y;
/** The text between JSX tags, which contains no code. */
const jsxText = />[^<>{};=()]*[A-Z ][^<>{};=()]*(?=[<{])/y;
const beforeRegex = /^(?:[(,=:[!&|?{};+]|return|typeof|case|of|in|)$/;

/** Reads TypeScript or JavaScript; `isJsx`: with JSX. Never throws. */
export function scanCode(code: string, isJsx: boolean): ScannedCode {
  const names: Scanned[] = [];
  const comments: Scanned[] = [];
  const strings: Scanned[] = [];
  // The depth of braces at which the current expression of each open template ends.
  const templates: number[] = [];
  let [depth, at, line, lineEnd, last] = [0, 0, 1, code.indexOf('\n'), ''];
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(code);
  };
  const skip = (length: number) => {
    at += length;
    for (; lineEnd >= 0 && lineEnd < at; lineEnd = code.indexOf('\n', lineEnd + 1)) line++;
  };
  const skipTemplate = () => {
    const text = match(template)?.[0] ?? '';
    if (text.endsWith('${')) templates.push(depth);
    strings.push({ text, line });
    skip(text.length);
  };
  while (at < code.length) {
    const found =
      (code[at] === '/' && beforeRegex.test(last) && match(regex)) ||
      (isJsx && code[at] === '>' && match(jsxText)) ||
      (match(token) as RegExpExecArray);
    const text = found[0];
    const { comment, name, string } = found.groups ?? {};
    if (comment !== undefined) comments.push({ text: comment, line });
    if (name !== undefined) names.push({ text: name, line });
    if (string !== undefined || (text.length > 1 && text.startsWith('>'))) strings.push({ text, line });
    skip(text.length);
    if (text === '{') depth++;
    const endsExpression = text === '}' && templates.at(-1) === depth;
    if (endsExpression) templates.pop();
    else if (text === '}') depth--;
    if (text === '`' || endsExpression) skipTemplate();
    if (comment === undefined && text.trim() !== '') last = text;
  }
  return { names, comments: joinLines(comments, code.split('\n')), strings };
}

/** Joins `//` comments on consecutive lines of their own. */
function joinLines(comments: readonly Scanned[], lines: readonly string[]): Scanned[] {
  const joined: { text: string; line: number; end: number; isAlone: boolean }[] = [];
  for (const { text, line } of comments) {
    const previous = joined.at(-1);
    const isAlone = text.startsWith('//') && lines[line - 1]?.trimStart().startsWith('//') === true;
    if (isAlone && previous?.isAlone === true && previous.end === line - 1) {
      previous.text += `\n${text}`;
      previous.end = line;
    } else joined.push({ text, line, end: line + text.split('\n').length - 1, isAlone });
  }
  return joined;
}
