import type { Hunk } from './file-change.ts';
import { decodeBytes, readQuotedName } from './quoted-name.ts';

/** The part of a patch for one file. Names have one character for each byte. */
export interface FilePatch {
  /** The name after the change; for a deleted file, its former name. */
  readonly name: string;
  readonly hunks: readonly Hunk[];
  /** Bytes of the lines of its hunks. */
  readonly bytes: number;
  /** True if the hunks were longer than allowed; there are none then. */
  readonly isOmitted: boolean;
}

/** Reads a patch that arrives in pieces. Throws an Error if the text is no patch by git. */
export interface PatchParser {
  write(chunk: Buffer): void;
  /** Ends the last file. */
  end(): void;
}

interface OpenHunk extends Hunk {
  readonly lines: string[];
  oldLeft: number;
  newLeft: number;
}

interface OpenFile {
  /** From the first line, if both names are equal. */
  name: string | null;
  hunks: OpenHunk[];
  bytes: number;
  isOmitted: boolean;
  /** Binary content follows, which has no lines of the header. */
  isBinary: boolean;
}

/**
 * Creates a parser of the output of `git diff-tree -p` with the prefixes `a/` and `b/`. `allowed` returns the bytes that
 * the hunks of the next file may have, so that no long file is kept in memory.
 */
export function createPatchParser(allowed: () => number, onFile: (file: FilePatch) => void): PatchParser {
  let rest = '';
  let file: OpenFile | null = null;
  let hunk: OpenHunk | null = null;

  const endFile = () => {
    if (hunk !== null && hunk.oldLeft + hunk.newLeft > 0) throw new Error('A hunk of the patch is incomplete.');
    hunk = null;
    if (file === null) return;
    const { name, hunks, bytes, isOmitted } = file;
    if (name === null) throw new Error('A file of the patch has no name.');
    onFile({ name, hunks: isOmitted ? [] : hunks.map(closed), bytes: isOmitted ? 0 : bytes, isOmitted });
    file = null;
  };

  const takeHunkLine = (current: OpenHunk, open: OpenFile, line: string) => {
    const kind = line[0];
    if (kind === ' ' || kind === '-') current.oldLeft -= 1;
    if (kind === ' ' || kind === '+') current.newLeft -= 1;
    if (current.oldLeft < 0 || current.newLeft < 0) throw new Error('A hunk of the patch is longer than it says.');
    open.bytes += line.length;
    if (open.isOmitted) return;
    if (open.bytes <= allowed()) return void current.lines.push(decodeBytes(line));
    open.isOmitted = true;
    open.hunks = [];
  };

  const takeLine = (line: string) => {
    const isInside = hunk !== null && hunk.oldLeft + hunk.newLeft > 0;
    if (file !== null && hunk !== null && (isInside ? /^[-+ \\]/ : /^\\/).test(line))
      return takeHunkLine(hunk, file, line);
    if (isInside) throw new Error('A hunk of the patch has another line.');
    if (line.startsWith('diff --git ')) {
      endFile();
      file = {
        name: nameOfFirstLine(line.slice('diff --git '.length)),
        hunks: [],
        bytes: 0,
        isOmitted: false,
        isBinary: false,
      };
    } else if (file === null) {
      if (line !== '') throw new Error('The patch does not begin with a file.');
    } else if (line.startsWith('@@ ') && !file.isBinary) {
      hunk = readHunk(line);
      if (!file.isOmitted) file.hunks.push(hunk);
    } else if (hunk === null && !file.isBinary) takeHeader(file, line);
  };

  return {
    write(chunk) {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) takeLine(line);
    },
    end() {
      if (rest !== '') takeLine(rest);
      rest = '';
      endFile();
    },
  };
}

function closed({ oldStart, oldLines, newStart, newLines, heading, lines }: OpenHunk): Hunk {
  return { oldStart, oldLines, newStart, newLines, heading, lines };
}

function takeHeader(file: OpenFile, line: string): void {
  if (line === 'GIT binary patch' || line.startsWith('Binary files ')) file.isBinary = true;
  else if (line.startsWith('rename to ')) file.name = nameOf(line.slice('rename to '.length));
  else if (line.startsWith('--- ') && line !== '--- /dev/null') file.name ??= prefixedName(line.slice(4), 'a/');
  else if (line.startsWith('+++ ') && line !== '+++ /dev/null') file.name = prefixedName(line.slice(4), 'b/');
}

// Git ends unquoted names that contain a space with a tab there. A name with a tab is quoted.
function prefixedName(text: string, prefix: string): string {
  const name = nameOf(text.startsWith('"') ? text : text.replace(/\t$/, ''));
  if (!name.startsWith(prefix)) throw new Error('A name of the patch has another prefix.');
  return name.slice(prefix.length);
}

function nameOf(text: string): string {
  return text.startsWith('"') ? (readQuotedName(text)?.name ?? text) : text;
}

// Both names are equal, and equally quoted, unless another line of the header says the names.
function nameOfFirstLine(text: string): string | null {
  const quoted = text.startsWith('"') ? readQuotedName(text) : null;
  if (quoted !== null) {
    const other = readQuotedName(quoted.rest.slice(1));
    const name = quoted.name.slice(2);
    return other?.name.slice(2) === name ? name : null;
  }
  const half = (text.length - 1) / 2;
  const [old, name] = [text.slice(2, half), text.slice(half + 3)];
  return Number.isInteger(half) && old === name ? name : null;
}

function readHunk(line: string): OpenHunk {
  const [all, oldStart, oldLines = '1', newStart, newLines = '1'] =
    /^@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@/.exec(line) ?? [];
  if (all === undefined) throw new Error('A hunk of the patch has no line numbers.');
  return {
    oldStart: Number(oldStart),
    oldLines: Number(oldLines),
    newStart: Number(newStart),
    newLines: Number(newLines),
    heading: decodeBytes(line.slice(all.length).replace(/^ /, '')),
    lines: [],
    oldLeft: Number(oldLines),
    newLeft: Number(newLines),
  };
}
