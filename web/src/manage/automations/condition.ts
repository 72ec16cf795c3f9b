/** A condition as the service has it. */
export interface Condition {
  readonly field: string;
  readonly operator: string;
  readonly value?: unknown;
}

/** A condition in a form. */
export interface ConditionDraft {
  /** Identifies it while the form is open. */
  readonly key: number;
  readonly field: string;
  readonly operator: string;
  /** The text of its value; {@link writeValue} is the inverse. */
  readonly text: string;
  /** The stored condition; null for a new one. */
  readonly base: Condition | null;
}

/**
 * The kind of input for a value. `plain`: a text, a number or a boolean, depending on the text. `lines`: one text per
 * line. `json`: a value without a field of its own.
 */
export type ValueKind = 'plain' | 'text' | 'number' | 'range' | 'lines' | 'nothing' | 'json';

const kinds: Readonly<Record<string, ValueKind>> = {
  EQ: 'plain',
  NEQ: 'plain',
  CONTAINS: 'text',
  NOT_CONTAINS: 'text',
  STARTS_WITH: 'text',
  NOT_STARTS_WITH: 'text',
  ENDS_WITH: 'text',
  NOT_ENDS_WITH: 'text',
  GT: 'number',
  LT: 'number',
  GTE: 'number',
  LTE: 'number',
  BETWEEN: 'range',
  IN: 'lines',
  NOT_IN: 'lines',
  MATCHES: 'text',
  NOT_MATCHES: 'text',
  GLOBS: 'lines',
  NOT_GLOBS: 'lines',
  IS_EMPTY: 'nothing',
  IS_NOT_EMPTY: 'nothing',
  RECURRENCE: 'text',
};

/** The kind of input for an operator's value. `fieldType`: from the schemas; null for an unknown field. */
export function valueKind(operator: string, fieldType: string | null): ValueKind {
  const kind = kinds[operator] ?? 'json';
  if (kind !== 'plain') return kind;
  return fieldType === 'STRING' || fieldType === 'LIST' ? 'text' : 'plain';
}

let lastKey = 0;

/** The initial values of a new condition. */
export const newCondition = (field: string, operator: string): ConditionDraft => ({
  key: ++lastKey,
  field,
  operator,
  text: '',
  base: null,
});

/** Converts a condition to its form. */
export function readCondition(condition: Condition, fieldType: string | null): ConditionDraft {
  const { field, operator, value } = condition;
  return { key: ++lastKey, field, operator, text: writeValue(valueKind(operator, fieldType), value), base: condition };
}

/** Converts a form to a condition; unchanged fields keep their stored value. */
export function writeCondition({ field, operator, text, base }: ConditionDraft, fieldType: string | null): Condition {
  const kind = valueKind(operator, fieldType);
  if (base !== null && base.operator === operator && writeValue(kind, base.value) === text) {
    return { field, operator, value: base.value ?? null };
  }
  return { field, operator, value: readValue(kind, text) };
}

/** Writes a value as text without loss. */
export function writeValue(kind: ValueKind, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (kind === 'text' && typeof value === 'string') return value;
  if (kind === 'plain' && typeof value === 'string' && readPlain(value) === value) return value;
  if (kind === 'range' && Array.isArray(value)) return value.join(', ');
  if (kind === 'lines' && Array.isArray(value) && value.every(isLine)) return value.join('\n');
  return JSON.stringify(value);
}

// Text that is no value of the kind is sent unchanged: the service's error message is the best one.
function readValue(kind: ValueKind, text: string): unknown {
  switch (kind) {
    case 'nothing':
      return null;
    case 'text':
      return text;
    case 'plain':
      return readPlain(text);
    case 'number':
      return readNumber(text);
    case 'range':
      return text
        .split(/[,\s]+/)
        .filter((each) => each !== '')
        .map(readNumber);
    case 'lines': {
      const parsed = text.trimStart().startsWith('[') ? readJson(text) : text;
      return Array.isArray(parsed)
        ? parsed
        : text
            .split('\n')
            .map((line) => line.trim())
            .filter((line) => line !== '');
    }
    case 'json':
      return readJson(text);
  }
}

const isLine = (value: unknown) =>
  typeof value === 'string' && value !== '' && value.trim() === value && !/\n|^\[/.test(value);

const readNumber = (text: string) => (text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text));

// A quoted text is a text, whatever it contains.
const readPlain = (text: string) => (/^(?:-?\d|"|true$|false$)/.test(text) ? readJson(text) : text);

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
