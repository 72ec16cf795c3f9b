import { z } from '@hono/zod-openapi';

/** Converts a name in snake_case to our form. */
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** The fields of a request that a resource has under the same names in our case, with their schemas. */
type WireFields = Readonly<Record<string, z.ZodType>>;

/** The fields as a response has them: those that a request may leave out are null. */
type ResponseFields<S extends WireFields> = {
  [K in keyof S]: S[K] extends z.ZodOptional<infer Inner> ? Inner : S[K];
};

type Members<S extends WireFields> = { [K in keyof S & string as CamelCase<K>]: z.output<S[K]> };
type Values<S extends WireFields> = { [K in keyof S & string]: z.input<ResponseFields<S>[K] & z.ZodType> };

/** The fields of a resource that one table of request schemas describes. */
export interface ValueFields<S extends WireFields> {
  readonly request: S;
  readonly response: ResponseFields<S>;
  /** A request's fields as an input of the domain. Omitted fields are undefined. */
  parse(body: { readonly [K in keyof S]?: z.output<S[K]> }): Members<S>;
  /** A record's values as fields of a response. */
  present(record: { readonly [K in keyof S & string as CamelCase<K>]: unknown }): Values<S>;
}

const camelCase = (name: string): string => name.replaceAll(/_(.)/g, (_match, letter: string) => letter.toUpperCase());

/** Describes the fields that a request, a response, an input of the domain and a record have alike, once. */
export function valueFields<S extends WireFields>(request: S): ValueFields<S> {
  const names = Object.keys(request).map((wire) => [wire, camelCase(wire)] as const);
  const response = Object.entries(request).map(([wire, schema]) => [
    wire,
    schema instanceof z.ZodOptional ? schema.unwrap() : schema,
  ]);
  return {
    request,
    response: Object.fromEntries(response) as ResponseFields<S>,
    parse(body) {
      const values = body as Readonly<Record<string, unknown>>;
      return Object.fromEntries(names.map(([wire, member]) => [member, values[wire]])) as Members<S>;
    },
    present(record) {
      const values = record as Readonly<Record<string, unknown>>;
      return Object.fromEntries(names.map(([wire, member]) => [wire, values[member]])) as Values<S>;
    },
  };
}
