import {
  DirectiveLocation,
  type GraphQLArgument,
  GraphQLDirective,
  type GraphQLInputField,
  GraphQLInt,
  GraphQLString,
  getNullableType,
  isListType,
} from 'graphql';
import type { ValueLimits } from '../../domain/value-limits.ts';
import type { AppliedDirective } from './applied-directive.ts';
import { limitsOfMembers } from './input-limits.ts';

const name = 'constraint';

const int = (description: string) => ({ type: GraphQLInt, description });

/** The definition of `@constraint`. */
export const constraint = new GraphQLDirective({
  name,
  description:
    'Limits that a value must keep; otherwise the answer is INVALID_INPUT with the path of the value. Of a list, those of texts and numbers are of each item. Null keeps every limit, where it is taken.',
  locations: [DirectiveLocation.INPUT_FIELD_DEFINITION, DirectiveLocation.ARGUMENT_DEFINITION],
  args: {
    minLength: int('The fewest characters of a text, in UTF-16 code units.'),
    maxLength: int('The most characters of a text, in UTF-16 code units.'),
    pattern: {
      type: GraphQLString,
      description: 'A regular expression of ECMAScript that the text matches.',
    },
    min: int('The smallest number.'),
    max: int('The largest number.'),
    minItems: int('The fewest items of a list.'),
    maxItems: int('The most items of a list.'),
  },
});

/** The constraints, by name, of the fields of an input type (`typeName`) or of the arguments of a field (null). */
export function constraintsOf(
  typeName: string | null,
  members: readonly (GraphQLInputField | GraphQLArgument)[],
): ReadonlyMap<string, AppliedDirective> {
  const limits = limitsOfMembers({
    typeName,
    members: members.map((member) => ({ name: member.name, isList: isListType(getNullableType(member.type)) })),
  });
  return new Map(
    members.flatMap((member): [string, AppliedDirective][] => {
      // A member may set its own limits, which its resolver checks.
      const args = (member.extensions.limits as ValueLimits | undefined) ?? limits[member.name];
      return args ? [[member.name, { name, args: { ...args } }]] : [];
    }),
  );
}
