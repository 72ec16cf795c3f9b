import {
  astFromValue,
  type FieldDefinitionNode,
  type GraphQLSchema,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
  printSchema,
} from 'graphql';
import type { AppliedDirective } from '../src/graphql/applied-directive.ts';
import { costDirectivesOf } from '../src/graphql/cost-directives.ts';
import { directivesOf } from '../src/graphql/directives.ts';

/** The schema in GraphQL's own language, with the directives that graphql-js leaves out. */
export function printContract(schema: GraphQLSchema): string {
  const text = printSchema(schema);
  const inserts: { readonly at: number; readonly text: string }[] = [];
  for (const definition of parse(text).definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    const type = schema.getType(definition.name.value);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    const fields = type.getFields();
    for (const node of definition.fields ?? []) {
      const field = fields[node.name.value];
      if (field)
        inserts.push({
          at: endOf(node),
          text: [...directivesOf(field), ...costDirectivesOf(field, type.name)].map(write(schema)).join(''),
        });
    }
  }
  let printed = '';
  let from = 0;
  for (const { at, text: insert } of inserts.toSorted((a, b) => a.at - b.at)) {
    printed += text.slice(from, at) + insert;
    from = at;
  }
  return `${printed}${text.slice(from)}\n`;
}

const endOf = ({ loc }: FieldDefinitionNode) => loc?.end ?? 0;

const write =
  (schema: GraphQLSchema) =>
  ({ name, args }: AppliedDirective): string => {
    const directive = schema.getDirective(name);
    if (!directive) throw new Error(`The schema does not define @${name}.`);
    const given = directive.args.flatMap((arg) => {
      const value = args[arg.name] === undefined ? null : astFromValue(args[arg.name], arg.type);
      return value ? [`${arg.name}: ${print(value)}`] : [];
    });
    return ` @${name}${given.length > 0 ? `(${given.join(', ')})` : ''}`;
  };
