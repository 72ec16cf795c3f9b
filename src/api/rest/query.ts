import { z } from '@hono/zod-openapi';
import { invalidRequest } from './refusal.ts';

/** Query parameters before parsing: all values of each name, in order. */
export type RawQuery = Readonly<Record<string, readonly string[]>>;

/**
 * The query of an address, without its "?". Lists come as `tags=a&tags=b` or `tags[]=a`; a parameter `qs` holds the same
 * names in one JSON object (docs/wire/README.md#query-parameters). A flat parameter wins.
 */
export function readQuery(search: string): RawQuery {
  const query: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(search)) {
    const key = name.endsWith('[]') ? name.slice(0, -2) : name;
    query[key] ??= [];
    query[key].push(value);
  }
  const qs = query.qs?.at(-1);
  return qs === undefined ? query : { ...fromObject(qs), ...query };
}

function fromObject(json: string): Record<string, string[]> {
  let value: unknown = null;
  try {
    value = JSON.parse(json);
  } catch {
    // Reported below, like any other value that is not an object.
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    const msg = '"qs" must be a JSON object of query parameters.';
    throw invalidRequest([{ loc: ['query', 'qs'], msg, type: 'value_error' }]);
  }
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(entries.map(([name, each]) => [name, (Array.isArray(each) ? each : [each]).map(toText)]));
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

const values = z.array(z.string());

/** An integer parameter; the last value counts. `min` and `max` bound what is read; the domain checks ranges. */
export function integerParam(
  name: string,
  docs: { description: string; minimum?: number; maximum?: number; default?: number },
) {
  return values
    .transform((texts, check) => {
      const text = texts.at(-1) ?? '';
      if (/^-?\d{1,11}$/.test(text)) return Number(text);
      check.addIssue({
        code: 'custom',
        message: `"${name}" must be an integer, but was ${JSON.stringify(text.slice(0, 60))}.`,
      });
      return z.NEVER;
    })
    .optional()
    .openapi({ param: { name, in: 'query' }, type: 'integer', ...docs });
}

/** A parameter of `true` or `false` (also `1` and `0`); the last value counts. */
export function booleanParam(name: string, docs: { description: string; default?: boolean }) {
  return values
    .transform((texts, check) => {
      const text = (texts.at(-1) ?? '').toLowerCase();
      if (text === 'true' || text === '1') return true;
      if (text === 'false' || text === '0') return false;
      check.addIssue({
        code: 'custom',
        message: `"${name}" must be true or false, but was ${JSON.stringify(text.slice(0, 60))}.`,
      });
      return z.NEVER;
    })
    .optional()
    .openapi({ param: { name, in: 'query' }, type: 'boolean', ...docs });
}

/** A text parameter; the last value counts. An empty value counts as missing. */
export function textParam(name: string, docs: { description: string }) {
  return values
    .transform((texts, check) => {
      const text = texts.at(-1) ?? '';
      if (isStorable(text)) return text === '' ? undefined : text;
      check.addIssue({ code: 'custom', message: notStorable(name) });
      return z.NEVER;
    })
    .optional()
    .openapi({ param: { name, in: 'query' }, type: 'string', ...docs });
}

/**
 * A list parameter: repeated, or separated by commas. A value with a comma is kept complete as well as split: a list
 * means "any of these", and a tag may contain a comma. Empty values are ignored.
 */
export function listParam(name: string, docs: { description: string }) {
  return values
    .transform((texts, check) => {
      if (!texts.every(isStorable)) {
        check.addIssue({ code: 'custom', message: notStorable(name) });
        return z.NEVER;
      }
      const all = texts.flatMap((value) => [value, ...value.split(',').map((part) => part.trim())]);
      const list = [...new Set(all)].filter((value) => value !== '');
      return list.length > 0 ? list : undefined;
    })
    .optional()
    .openapi({ param: { name, in: 'query' }, type: 'array', items: { type: 'string' }, ...docs });
}

// PostgreSQL text cannot hold NUL, and a lone surrogate (possible in `qs`) is not valid Unicode.
const isStorable = (text: string) => !text.includes('\u0000') && text.isWellFormed();

const notStorable = (name: string) => `"${name}" must be Unicode text without NUL characters and lone surrogates.`;
