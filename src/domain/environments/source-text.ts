import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { isAlias, isMap, isNode, isPair, LineCounter, parseDocument, visit } from 'yaml';

/** A text that was read as data. */
export interface SourceValue {
  readonly value: unknown;
  /** Returns the line of the innermost part of a path that the text has, from 1; null: it has none. */
  lineOf(path: readonly PropertyKey[]): number | null;
}

/** A place where a text is not what its format allows. */
export interface SourceError {
  /** From 1; null: the whole text. */
  readonly line: number | null;
  readonly message: string;
}

/** The outcome of reading a text. */
export type SourceResult = SourceValue | { readonly errors: readonly SourceError[] };

const tooDeep: SourceError = { line: null, message: 'The text is nested too deeply.' };

/** The maximum number of errors of one text. */
const maxErrors = 20;

/**
 * Reads YAML 1.2 of its core schema: one document with texts as keys, without anchors, aliases, tags and merge keys. A hostile text
 * costs no more than its size.
 */
export function readYaml(text: string): SourceResult {
  try {
    return parseYaml(text);
  } catch (error) {
    if (error instanceof RangeError) return { errors: [tooDeep] };
    throw error;
  }
}

function parseYaml(text: string): SourceResult {
  const counter = new LineCounter();
  const options = {
    schema: 'core',
    version: '1.2',
    merge: false,
    stringKeys: true,
    logLevel: 'error',
    prettyErrors: false,
  } as const;
  const document = parseDocument(text, { ...options, lineCounter: counter });
  const lineAt = (offset: number | undefined) => (offset === undefined ? null : counter.linePos(offset).line || 1);
  if (document.errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION')) return { errors: [tooDeep] };
  const errors: SourceError[] = document.errors.map(({ message, pos }) => ({
    line: lineAt(pos[0]),
    message: `The text must be YAML: ${message.split('\n', 1)[0]}`,
  }));
  visit(document, {
    Node(_key, node) {
      if (errors.length >= maxErrors) return visit.BREAK;
      const line = lineAt(node.range?.[0]);
      if (isAlias(node)) errors.push({ line, message: 'Aliases (*name) are not supported. Write the value again.' });
      else if (node.anchor !== undefined) errors.push({ line, message: 'Anchors (&name) are not supported.' });
      else if (node.tag !== undefined) errors.push({ line, message: 'Tags (!name) are not supported.' });
      return undefined;
    },
  });
  if (errors.length > 0) return { errors: errors.slice(0, maxErrors) };
  return {
    value: document.toJS({ maxAliasCount: 0 }),
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = keyOffset(document.contents, path.slice(0, length));
        if (offset !== undefined) return lineAt(offset);
      }
      return isNode(document.contents) ? lineAt(document.contents.range?.[0]) : null;
    },
  };
}

// The key of a member, or the item of a list.
function keyOffset(contents: unknown, path: readonly PropertyKey[]): number | undefined {
  let node: unknown = contents;
  let offset: number | undefined;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && String(item.key) === String(step));
      node = pair?.value;
      offset = isNode(pair?.key) ? pair.key.range?.[0] : undefined;
    } else {
      node = (node as { items?: unknown[] } | null)?.items?.[Number(step)];
      offset = isNode(node) ? node.range?.[0] : undefined;
    }
    if (offset === undefined) return undefined;
  }
  return offset;
}

/** Reads JSON with comments and trailing commas. */
export function readJsonWithComments(text: string): SourceResult {
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const errors: ParseError[] = [];
  let root: Node | undefined;
  let value: unknown;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
    value = root && getNodeValue(root);
  } catch (error) {
    if (error instanceof RangeError) return { errors: [tooDeep] };
    throw error;
  }
  if (errors.length > 0 || root === undefined)
    return {
      errors: errors.slice(0, maxErrors).map(({ error, offset }) => ({
        line: lineAt(offset),
        message: `The text must be JSON with comments: ${printParseErrorCode(error)
          .replaceAll(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
          .toLowerCase()}.`,
      })),
    };
  const tree = root;
  return {
    value,
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const steps = path.slice(0, length).map((step) => (typeof step === 'number' ? step : String(step)));
        const node = findNodeAtLocation(tree, steps);
        if (node !== undefined) return lineAt(node.parent?.type === 'property' ? node.parent.offset : node.offset);
      }
      return lineAt(tree.offset);
    },
  };
}
