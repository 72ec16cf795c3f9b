import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  type GraphQLEnumType,
  type GraphQLField,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLSchema,
  isEnumType,
  isObjectType,
} from 'graphql';
import type { AppliedDirective } from './applied-directive.ts';
import { constraint } from './constraint-directive.ts';
import { costDirectives } from './cost-directives.ts';
import { enumName } from './enum-name.ts';
import { type Needs, type Requirement, requirementsOf } from './schema/needs.ts';

type Field = GraphQLField<unknown, unknown>;

const names = { semanticNonNull: 'semanticNonNull', requiresPermission: 'requiresPermission' } as const;

const semanticNonNull = new GraphQLDirective({
  name: names.semanticNonNull,
  description:
    'The field is null only if `errors` has an error for it. Clients that throw on field errors may treat the field as non-null.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    levels: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLInt))),
      defaultValue: [0],
      description: 'Levels of a list that the directive applies to: 0 is the field itself, 1 is its items.',
    },
  },
});

const requiresPermission = (permission: GraphQLEnumType) =>
  new GraphQLDirective({
    name: names.requiresPermission,
    isRepeatable: true,
    description:
      'The caller must hold one of these permissions, in the organization or on the enterprise that the field is about; otherwise the error is FORBIDDEN. If the directive is repeated, each occurrence must be satisfied.',
    locations: [DirectiveLocation.FIELD_DEFINITION],
    args: {
      permission: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(permission))),
        description: 'Permissions of which the caller must hold at least one.',
      },
      exceptOwn: {
        type: new GraphQLNonNull(GraphQLBoolean),
        defaultValue: false,
        description:
          'Whether the caller’s own resources require none of the permissions, for example a session that it started.',
      },
    },
  });

/** The applied directives of a field, from its extensions. */
export function directivesOf({ extensions }: Field): AppliedDirective[] {
  const applied: AppliedDirective[] = [];
  if (extensions.isNullOnlyOnError === true) applied.push({ name: names.semanticNonNull, args: {} });
  for (const { anyOf, exceptOwn } of requirementsOf(extensions as Partial<Needs>)) {
    // A single value is written without brackets; GraphQL coerces it to a list.
    const permission = anyOf.length === 1 ? anyOf[0] : anyOf;
    const args = { permission, exceptOwn: exceptOwn || undefined };
    applied.push({ name: names.requiresPermission, args });
  }
  return applied;
}

/**
 * Adds the definitions of the directives that the printed schema applies, and names the required permissions in the
 * description of each field too: introspection exposes descriptions, but no applied directives.
 */
export function withContract(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const requirements = requirementsOf(field.extensions as Partial<Needs>);
      if (requirements.length > 0)
        field.description = `${field.description} Requires ${describeRequirements(requirements)}.`;
    }
  }
  const permission = schema.getType('Permission');
  if (!isEnumType(permission)) throw new Error('The schema has no enum Permission.');
  const { directives, ...config } = schema.toConfig();
  const all = [...directives, semanticNonNull, requiresPermission(permission), ...costDirectives, constraint];
  return new GraphQLSchema({ ...config, directives: all.toSorted((a, b) => (a.name < b.name ? -1 : 1)) });
}

const describeRequirements = (requirements: readonly Requirement[]) =>
  requirements
    .map(({ anyOf, exceptOwn }) => {
      const permissions = anyOf.map((permission) => `\`${enumName(permission)}\``).join(' or ');
      return exceptOwn ? `${permissions}, except for the viewer’s own resources` : permissions;
    })
    .join(', and ');
