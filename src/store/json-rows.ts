import { columnOf, type Field, type Model, type Row, sqlTypeOf } from './tables.ts';

/** The JSON array of {@link JsonRow.sql}: the values of a record of this type, in an order that only its reader knows. */
export interface JsonValues<T> {
  /** Never set. */
  readonly record?: T;
}

/**
 * Rows of a table as JSON arrays. For a client of the database, a row of many columns costs several times as much as one JSON value,
 * and an object also repeats the names.
 */
export interface JsonRow<T, Known extends keyof T & string, More extends keyof T & string> {
  /** The SQL expression of the array for a row of this alias. `more`: the expressions of the members that are not fields. */
  sql(alias: string, ...more: [More] extends [never] ? [] : [more: Readonly<Record<More, string>>]): string;
  /** Turns an array into a record. */
  read(values: JsonValues<T>, ...known: [Known] extends [never] ? [] : [known: Pick<T, Known>]): T;
}

/** The members of a {@link JsonRow}. */
interface JsonRowMembers<F extends string, Known extends string, More extends string> {
  readonly fields: readonly F[];
  /** Fields that are not in the array, because the reader knows their values. */
  readonly known?: readonly Known[];
  /** Members after the fields, which are not fields of the model. */
  readonly more?: readonly More[];
}

/** No constraint if the names are all members of T; otherwise a type that names the missing ones. */
type Complete<T, Names> = [Exclude<keyof T, Names>] extends [never]
  ? unknown
  : { readonly missing: Exclude<keyof T, Names> };

/**
 * Returns the expression and the reader of a record `T` of a model's rows. The values of its fields may be narrower than those of
 * the columns. A field of type `numeric` or `bytea` is refused: JSON would change it.
 */
export const jsonRow =
  <M extends Model, T extends { readonly [K in keyof T]: K extends Field<M> ? Row<M>[K] : unknown }>(model: M) =>
  <
    F extends Field<M> & keyof T,
    Known extends Field<M> & keyof T = never,
    More extends Exclude<keyof T, Field<M>> & string = never,
  >({
    fields,
    known = [],
    more = [],
  }: JsonRowMembers<F, Known, More> & Complete<T, F | Known | More>): JsonRow<T, Known, More> => ({
    sql: (alias, expressions: Readonly<Record<string, string>> = {}) => {
      const values = fields.map((field) => expressionOf(model, alias, field));
      return `json_build_array(${[...values, ...more.map((name) => expressions[name])].join(', ')})`;
    },
    read: compileReader(model, fields, known, more) as unknown as JsonRow<T, Known, More>['read'],
  });

/**
 * SQL expression of a field in JSON. A `timestamptz(3)` becomes whole milliseconds since 1970: the form that is cheapest to read.
 * It is exact for all supported years, since a double has microsecond precision for their seconds.
 */
function expressionOf<M extends Model>(model: M, alias: string, field: Field<M>): string {
  const column = columnOf(model, alias, field);
  const type = sqlTypeOf(model, field);
  if (type === 'numeric' || type === 'bytea') throw new Error(`JSON has no "${type}" of ${model}.${field}.`);
  return type === 'timestamptz' ? `round(date_part('epoch', ${column}) * 1000)` : column;
}

type Reader = (values: readonly unknown[], known?: object) => object;

/**
 * Writes the function as an object literal and compiles it once: a loop over the names takes four times as long for each row. The
 * text consists of names of the schema and of the source.
 */
function compileReader<M extends Model>(
  model: M,
  fields: readonly Field<M>[],
  known: readonly string[],
  more: readonly string[],
): Reader {
  const members = [
    ...known.map((name) => [name, `known.${name}`]),
    ...fields.map((field, n) => [field, isTime(model, field) ? `time(values[${n}])` : `values[${n}]`]),
    ...more.map((name, n) => [name, `values[${fields.length + n}]`]),
  ];
  for (const [name = ''] of members) {
    if (!/^[a-z]\w*$/i.test(name)) throw new Error(`"${name}" is not a name of a member.`);
  }
  const literal = members.map(([name, value]) => `${name}: ${value}`).join(', ');
  return new Function('time', `return (values, known) => ({ ${literal} })`)(toTime) as Reader;
}

const isTime = <M extends Model>(model: M, field: Field<M>): boolean => sqlTypeOf(model, field) === 'timestamptz';

const toTime = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));
