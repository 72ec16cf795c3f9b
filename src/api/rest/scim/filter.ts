import { isStorable } from '../../../domain/input.ts';
import { attributeName } from './attributes.ts';
import { invalidFilter, readTokens, shownToken } from './filter-tokens.ts';

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr'] as const;

/** An operator of RFC 7644, 3.4.2.2. */
export type Operator = (typeof operators)[number];

/** A comparison of an attribute with a value. `path`: as {@link attributeName} returns it. `value`: null for `pr`. */
export interface Comparison {
  readonly kind: 'comparison';
  readonly path: string;
  readonly operator: Operator;
  readonly value: string | boolean | null;
}

/** A filter as a tree. `element`: conditions that one value of a multi-valued attribute meets, as in `emails[…]`. */
export type Filter =
  | Comparison
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Filter[] }
  | { readonly kind: 'not'; readonly part: Filter }
  | { readonly kind: 'element'; readonly path: string; readonly part: Filter };

/** The maximum number of comparisons of a filter. */
const maxComparisons = 20;
/** The maximum depth of brackets. */
const maxDepth = 5;

/**
 * Parses a filter of RFC 7644, such as `userName sw "a" and (active eq true or not (displayName pr))` or
 * `emails[type eq "work"].value eq "a@example.com"`. Throws invalidFilter.
 */
export function parseFilter(filter: string): Filter {
  const reader = new FilterReader(readTokens(filter));
  const parsed = reader.readOr('', 0);
  reader.requireEnd();
  return parsed;
}

/** Joins filters; one alone stays as it is. */
const join = (kind: 'and' | 'or', parts: readonly Filter[]): Filter => {
  const [only, ...more] = parts;
  return only !== undefined && more.length === 0 ? only : { kind, parts };
};

class FilterReader {
  readonly #tokens: readonly string[];
  #at = 0;
  #count = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  /** Reads filters joined by "or". `within`: the attribute whose brackets they are in, with a dot; or ''. */
  readOr(within: string, depth: number): Filter {
    if (depth > maxDepth) throw invalidFilter(`A filter must not nest deeper than ${maxDepth} levels.`);
    const parts = [this.#readAnd(within, depth)];
    while (this.#take('or')) parts.push(this.#readAnd(within, depth));
    return join('or', parts);
  }

  requireEnd(): void {
    const left = this.#peek();
    if (left === '') return;
    throw invalidFilter(`The filter goes on with ${shownToken(left)}, but must end or go on with "and" or "or".`);
  }

  #readAnd(within: string, depth: number): Filter {
    const parts = [this.#readOne(within, depth)];
    while (this.#take('and')) parts.push(this.#readOne(within, depth));
    return join('and', parts);
  }

  #readOne(within: string, depth: number): Filter {
    const first = this.#next();
    if (first === '(') return this.#readInner(within, depth, ')');
    if (first.toLowerCase() === 'not' && this.#take('(')) {
      return { kind: 'not', part: this.#readInner(within, depth, ')') };
    }
    if (!/^[A-Za-z$]/.test(first)) {
      throw invalidFilter(`The filter has ${shownToken(first)} where an attribute must be.`);
    }
    const path = `${within}${attributeName(first)}`;
    return this.#take('[') ? this.#readElement(path, depth) : this.#readComparison(path);
  }

  #readElement(path: string, depth: number): Filter {
    const inner = this.#readInner(`${path}.`, depth, ']');
    // Entra ID writes a part of the selected value behind the brackets.
    const part = this.#peek().startsWith('.')
      ? join('and', [inner, this.#readComparison(`${path}${this.#next().toLowerCase()}`)])
      : inner;
    return { kind: 'element', path, part };
  }

  #readInner(within: string, depth: number, end: ')' | ']'): Filter {
    const inner = this.readOr(within, depth + 1);
    const found = this.#next();
    if (found !== end) throw invalidFilter(`The filter has ${shownToken(found)} where "${end}" must be.`);
    return inner;
  }

  #readComparison(path: string): Comparison {
    const word = this.#next();
    const operator = operators.find((each) => each === word.toLowerCase());
    if (operator === undefined) {
      throw invalidFilter(
        `The filter has ${shownToken(word)} after an attribute. An operator must be one of ${operators.join(', ')}.`,
      );
    }
    this.#count += 1;
    if (this.#count > maxComparisons) throw invalidFilter(`A filter must have at most ${maxComparisons} comparisons.`);
    return { kind: 'comparison', path, operator, value: operator === 'pr' ? null : readValue(this.#next()) };
  }

  #take(word: string): boolean {
    const isNext = this.#peek().toLowerCase() === word;
    if (isNext) this.#at += 1;
    return isNext;
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #next(): string {
    this.#at += 1;
    return this.#tokens[this.#at - 1] ?? '';
  }
}

function readValue(text: string): string | boolean {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  let value: unknown;
  try {
    value = text.startsWith('"') ? JSON.parse(text) : undefined;
  } catch {
    value = undefined;
  }
  if (typeof value !== 'string') {
    throw invalidFilter(`The filter has ${shownToken(text)} where a text in quotation marks must be.`);
  }
  if (!isStorable(value)) throw invalidFilter('A text of the filter has a NUL character or a lone surrogate.');
  return value;
}
