import { type ASTNode, GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { DateResolver, DateTimeResolver } from 'graphql-scalars';
import { writeTime } from '../../domain/times.ts';

/** A point in time, as the package parses and writes it, with this project's error messages. */
export const DateTimeScalar = refusingWith(
  new GraphQLScalarType({
    ...DateTimeResolver.toConfig(),
    specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
    // Serializes to text directly: the package leaves that to JSON.stringify, which calls each Date's toJSON.
    serialize: (value) =>
      value instanceof Date && isTime(value) ? writeTime(value) : DateTimeResolver.serialize(value),
  }),
  'DateTime must be RFC 3339 text such as "2026-11-21T09:00:00Z"',
);

/** A calendar date; see {@link DateTimeScalar}. */
export const DateScalar = refusingWith(
  new GraphQLScalarType({
    ...DateResolver.toConfig(),
    specifiedByURL: 'https://scalars.graphql.org/andimarek/local-date.html',
  }),
  'Date must be a day as text such as "2026-11-21"',
);

const isTime = (date: Date) => !Number.isNaN(date.getTime());

/** Wraps a text scalar so that its errors name the expected form and quote the start of the input. */
export function refusingWith<T>(scalar: GraphQLScalarType<T, unknown>, wanted: string): GraphQLScalarType<T, unknown> {
  const read = (value: unknown, shown: string, nodes?: ASTNode): T => {
    try {
      if (typeof value === 'string') return scalar.parseValue(value);
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
    }
    throw new GraphQLError(`${wanted}, but was ${shown.length > 80 ? `${shown.slice(0, 80)}…` : shown}.`, {
      nodes: nodes ?? null,
    });
  };
  return new GraphQLScalarType({
    ...scalar.toConfig(),
    parseValue: (value) => read(value, JSON.stringify(value) ?? 'nothing'),
    parseLiteral(literal) {
      if (literal.kind === Kind.STRING) return read(literal.value, JSON.stringify(literal.value), literal);
      return read(null, 'value' in literal ? String(literal.value) : 'another kind of value', literal);
    },
  });
}
