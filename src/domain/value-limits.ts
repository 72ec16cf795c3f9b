import { z } from 'zod';

/** The limits of an input's value. For a list, the limits of text apply to each item. */
export interface ValueLimits {
  /** In UTF-16 code units, like all lengths of texts here. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A regular expression in JavaScript's syntax that the whole text matches. */
  readonly pattern?: string;
  readonly min?: number;
  readonly max?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const ofTexts = z.registry<Pick<ValueLimits, 'minLength' | 'maxLength' | 'pattern'>>();

/**
 * Records the limits of a schema that checks them by a function, from which they cannot be read. Returns the schema.
 */
export function withLimits<T extends z.ZodType>(
  schema: T,
  limits: Pick<ValueLimits, 'minLength' | 'maxLength' | 'pattern'>,
): T {
  ofTexts.add(schema, limits);
  return schema;
}

interface JsonSchema {
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly type?: string;
  readonly [keyword: string]: unknown;
}

/**
 * Returns the limits of the members of an object, by name, as its schema checks them. Members without limits are left
 * out. `path`: the members that lead from the schema to the object; a list stands for its items.
 */
export function limitsOf(schema: z.ZodType, path: readonly string[] = []): Readonly<Record<string, ValueLimits>> {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => void Object.assign(jsonSchema, ofTexts.get(zodSchema)),
  }) as JsonSchema;
  const object = path.reduce((inner, name) => objectOf(inner).properties?.[name] ?? {}, json);
  const members = Object.entries(objectOf(object).properties ?? {}).map(
    ([name, member]) => [name, read(member)] as const,
  );
  return Object.fromEntries(members.filter(([, limits]) => Object.keys(limits).length > 0));
}

const withoutNull = (json: JsonSchema): JsonSchema => json.anyOf?.find(({ type }) => type !== 'null') ?? json;

function objectOf(json: JsonSchema): JsonSchema {
  const value = withoutNull(json);
  return value.items ? objectOf(value.items) : value;
}

function read(member: JsonSchema): ValueLimits {
  const value = withoutNull(member);
  const { minItems, maxItems, items } = value;
  const one = items ? withoutNull(items) : value;
  const { minLength, maxLength, pattern, format, type, minimum, maximum, exclusiveMinimum } = one;
  const isNumber = type === 'integer' || type === 'number';
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : minimum;
  const all = {
    minLength: minLength === 0 ? undefined : minLength,
    maxLength,
    // The pattern of a format, such as an email address, is not part of our API.
    pattern: format === undefined ? pattern : undefined,
    // The bounds of integers in JSON are not limits of the API.
    min: isNumber && above !== Number.MIN_SAFE_INTEGER ? above : undefined,
    max: isNumber && maximum !== Number.MAX_SAFE_INTEGER ? maximum : undefined,
    minItems: minItems === 0 ? undefined : minItems,
    maxItems,
  };
  return Object.fromEntries(Object.entries(all).filter(([, limit]) => limit !== undefined));
}
