import { Prisma } from './generated/client.ts';
import { type Rows, tables } from './generated/tables.ts';

/** A model of the Prisma schema. */
export type Model = keyof Rows;
/** A row of a model, as both drivers and the Prisma client return it. JSON is unknown: the domain defines its shape. */
export type Row<M extends Model> = Rows[M];
/** A field of a model: a member of its rows. */
export type Field<M extends Model> = keyof Rows[M] & string;
/** A row with these fields only, of which those in `T` have narrower types than their columns. */
export type Narrowed<
  M extends Model,
  F extends Field<M>,
  T extends { readonly [K in keyof T]: K extends F ? Row<M>[K] : never },
> = { readonly [K in F]: K extends keyof T ? T[K] : Row<M>[K] };

interface Column {
  readonly column: string;
  readonly type: string;
}

const columnsByModel: { readonly [M in Model]: Readonly<Record<string, Column>> } = Object.fromEntries(
  Object.entries(tables).map(([model, { columns }]) => [model, columns]),
) as never;

/** The name of a model's table. */
export const tableOf = (model: Model): string => tables[model].name;

/** The fields of a model in the order of the schema, without some. */
export function fieldsOf<M extends Model, Omitted extends Field<M> = never>(
  model: M,
  omitted: readonly Omitted[] = [],
): Exclude<Field<M>, Omitted>[] {
  const without: readonly string[] = omitted;
  return Object.keys(columnsByModel[model]).filter((field) => !without.includes(field)) as Exclude<Field<M>, Omitted>[];
}

/** The column of a field, of a table with this alias. */
export function columnOf<M extends Model>(model: M, alias: string, field: Field<M>): string {
  return `${alias}.${column(model, field).column}`;
}

/** The SQL type of a field's column, such as `text[]`. */
export const sqlTypeOf = <M extends Model>(model: M, field: Field<M>): string => column(model, field).type;

/** Returns the columns of these fields: as an INSERT lists them, or of a table with this alias. */
export const columnsOf = <M extends Model>(model: M, fields: readonly Field<M>[], alias?: string): string =>
  fields.map((field) => (alias === undefined ? column(model, field).column : columnOf(model, alias, field))).join(', ');

/** Returns the columns of a record that `jsonb_to_recordset` reads, named as these fields. */
export const recordOf = <M extends Model>(model: M, fields: readonly Field<M>[]): string =>
  fields.map((field) => `"${field}" ${column(model, field).type}`).join(', ');

/** Returns the columns of {@link recordOf}, of a record with this alias. */
export const namesOf = (alias: string, fields: readonly string[]): string =>
  fields.map((field) => `${alias}."${field}"`).join(', ');

/** Returns the placeholders of these fields, which are the parameters from `$first` on. */
export const placeholdersOf = <M extends Model>(model: M, fields: readonly Field<M>[], first: number): string =>
  fields.map((field, n) => parameter(model, field, first + n)).join(', ');

/** Returns the assignments of an UPDATE of these fields to its parameters from `$first` on. */
export const assignmentsOf = <M extends Model>(model: M, fields: readonly Field<M>[], first: number): string =>
  fields.map((field, n) => `${column(model, field).column} = ${parameter(model, field, first + n)}`).join(', ');

/** Returns the parameters of these fields of a row. */
export const parametersOf = <M extends Model, F extends Field<M>>(
  model: M,
  fields: readonly F[],
  row: Pick<Row<M>, F>,
): unknown[] => fields.map((field) => parameterValue(model, field, row[field]));

/** Returns the SELECT list of these fields of a table with this alias, under their names. */
export function selectFields<M extends Model>(model: M, alias: string, fields: readonly Field<M>[]): string {
  return fields.map((field) => `${columnOf(model, alias, field)} as "${field}"`).join(', ');
}

/** Returns the `select` of the Prisma client for these fields. */
export function selectionOf<F extends string>(fields: readonly F[]): { readonly [Name in F]: true } {
  return Object.fromEntries(fields.map((field) => [field, true])) as { readonly [Name in F]: true };
}

/** A statement and its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** An INSERT of a row. Omitted or undefined fields get the defaults of their columns. */
export function insertStatement<M extends Model>(model: M, row: Partial<Row<M>>): Statement {
  const fields = writtenFields(model, row);
  return {
    text: `insert into ${tableOf(model)} (${columnsOf(model, fields)}) values (${placeholdersOf(model, fields, 1)})`,
    values: fields.map((field) => parameterValue(model, field, row[field])),
  };
}

/** An UPDATE of the row with this id. Omitted or undefined fields do not change. */
export function updateStatement<M extends Model>(model: M, id: string, change: Partial<Row<M>>): Statement {
  const fields = writtenFields(model, change);
  return {
    text: `update ${tableOf(model)} set ${assignmentsOf(model, fields, 2)} where id = $1`,
    values: [id, ...fields.map((field) => parameterValue(model, field, change[field]))],
  };
}

/** The values of a row as the Prisma client takes them: null of a JSON column is SQL's null, not the one of JSON. */
export type Data<M extends Model, T> = {
  -readonly [K in keyof T]: K extends keyof Rows[M]
    ? unknown extends Rows[M][K]
      ? Prisma.InputJsonValue | (null extends T[K] ? typeof Prisma.DbNull : never)
      : Mutable<T[K]>
    : never;
};
type Mutable<T> = T extends readonly (infer Item)[] ? Item[] : T;

/** A row, or a part of one, as {@link Data}. Throws for a member that is no field of the model. */
export function toData<M extends Model, T extends Partial<Row<M>>>(model: M, row: T): Data<M, T> {
  const entries = Object.entries(row).map(([field, value]) => {
    const isJson = column(model, field).type === 'jsonb';
    return [field, isJson && value === null ? Prisma.DbNull : value];
  });
  return Object.fromEntries(entries) as Data<M, T>;
}

function column(model: Model, field: string): Column {
  const found = columnsByModel[model][field];
  if (!found) throw new Error(`${model} has no field "${field}".`);
  return found;
}

const writtenFields = <M extends Model>(model: M, row: Partial<Row<M>>): Field<M>[] =>
  fieldsOf(model).filter((field) => row[field] !== undefined);

const parameter = <M extends Model>(model: M, field: Field<M>, position: number): string =>
  `$${position}::${column(model, field).type}`;

const parameterValue = <M extends Model>(model: M, field: Field<M>, value: unknown): unknown =>
  value !== null && column(model, field).type === 'jsonb' ? JSON.stringify(value) : value;
