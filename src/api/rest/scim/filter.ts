import { isStorable } from '../../../domain/input.ts';
import { attributeName } from './attributes.ts';
import { scimError } from './dialect.ts';

/** A comparison of an attribute with a value. `path`: as {@link attributeName} returns it. */
export interface Comparison {
  readonly path: string;
  readonly value: string | boolean;
}

/** The maximum length of a filter, in characters. */
const maxLength = 2_000;
/** The maximum number of comparisons of a filter. */
const maxComparisons = 10;
/** The maximum depth of brackets. */
const maxDepth = 5;

const invalid = (message: string) => scimError('invalidFilter', message);

// No text can match a part of this in two ways, so the time is linear. The last group is whatever no other one takes.
const token = /\s*(?:([A-Za-z$][\w$:.-]*)|("(?:[^"\\]|\\.)*")|([()[\]])|(\.[A-Za-z$][\w$.-]*)|(\S))/sy;

function readTokens(filter: string): string[] {
  const tokens: string[] = [];
  token.lastIndex = 0;
  for (let match = token.exec(filter); match !== null; match = token.exec(filter)) {
    const [, word, quoted, bracket, suffix, other] = match;
    if (other !== undefined) throw invalid(`The filter has an unexpected ${JSON.stringify(other)}.`);
    tokens.push(word ?? quoted ?? bracket ?? suffix ?? '');
  }
  return tokens;
}

/**
 * Parses a filter of equations that are joined by "and", which is what directories send, such as `userName eq "a@example.com"` or
 * `emails[type eq "work"].value eq "a@example.com"`. All other filters are refused as invalidFilter.
 */
export function parseFilter(filter: string): Comparison[] {
  if (filter.length > maxLength) throw invalid(`A filter must have at most ${maxLength} characters.`);
  const reader = new FilterReader(readTokens(filter));
  const comparisons = reader.readAll('', 0);
  reader.requireEnd();
  return comparisons;
}

class FilterReader {
  readonly #tokens: readonly string[];
  #at = 0;
  #count = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Reads comparisons joined by "and". `within`: the attribute whose brackets they are in, with a dot; or ''. */
  readAll(within: string, depth: number): Comparison[] {
    if (depth > maxDepth) throw invalid(`A filter must not nest deeper than ${maxDepth} levels.`);
    const all = this.#readOne(within, depth);
    while (this.#peek().toLowerCase() === 'and') {
      this.#next();
      all.push(...this.#readOne(within, depth));
    }
    return all;
  }

  requireEnd(): void {
    const left = this.#peek();
    if (left !== '') throw invalid(`The filter goes on with ${shown(left)}, but must end or go on with "and".`);
  }

  #readOne(within: string, depth: number): Comparison[] {
    const first = this.#next();
    if (first === '(') {
      const inner = this.readAll(within, depth + 1);
      this.#close(')');
      return inner;
    }
    if (!/^[A-Za-z$]/.test(first)) throw invalid(`The filter has ${shown(first)} where an attribute must be.`);
    const path = `${within}${attributeName(first)}`;
    if (this.#peek() !== '[') return [this.#readComparison(path)];
    this.#next();
    const inner = this.readAll(`${path}.`, depth + 1);
    this.#close(']');
    if (!this.#peek().startsWith('.')) return inner;
    return [...inner, this.#readComparison(`${path}${this.#next().toLowerCase()}`)];
  }

  #readComparison(path: string): Comparison {
    const operator = this.#next();
    if (operator.toLowerCase() !== 'eq') {
      throw invalid(`The filter has ${shown(operator)} after an attribute. Only "eq" is supported, joined by "and".`);
    }
    this.#count += 1;
    if (this.#count > maxComparisons) throw invalid(`A filter must have at most ${maxComparisons} comparisons.`);
    return { path, value: readValue(this.#next()) };
  }

  #close(bracket: string): void {
    const found = this.#next();
    if (found !== bracket) throw invalid(`The filter has ${shown(found)} where "${bracket}" must be.`);
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #next(): string {
    this.#at += 1;
    return this.#tokens[this.#at - 1] ?? '';
  }
}

const shown = (text: string) => (text === '' ? 'its end' : JSON.stringify(text.slice(0, 60)));

function readValue(text: string): string | boolean {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  let value: unknown;
  try {
    value = text.startsWith('"') ? JSON.parse(text) : undefined;
  } catch {
    value = undefined;
  }
  if (typeof value !== 'string')
    throw invalid(`The filter has ${shown(text)} where a text in quotation marks must be.`);
  if (!isStorable(value)) throw invalid('A text of the filter has a NUL character or a lone surrogate.');
  return value;
}
