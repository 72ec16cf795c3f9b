import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  parse,
  print,
  printSchema,
} from 'graphql';
import type { AppliedDirective } from '../src/api/graphql/applied-directive.ts';
import { constraintsOf } from '../src/api/graphql/constraint-directive.ts';
import { costDirectivesOf } from '../src/api/graphql/cost-directives.ts';
import { directivesOf } from '../src/api/graphql/directives.ts';

interface Insert {
  readonly at: number;
  readonly text: string;
}

interface Node {
  readonly name: { readonly value: string };
  readonly loc?: { readonly end: number } | undefined;
}

/** The schema in GraphQL's own language, with the directives that graphql-js leaves out. */
export function printContract(schema: GraphQLSchema): string {
  const text = printSchema(schema);
  const inserts: Insert[] = [];
  const insert = (node: Node, directives: readonly AppliedDirective[]) => {
    inserts.push({ at: node.loc?.end ?? 0, text: directives.map(write(schema)).join('') });
  };
  const constrain = (
    typeName: string | null,
    members: readonly (GraphQLInputField | GraphQLArgument)[],
    nodes: readonly Node[],
  ) => {
    const constraints = constraintsOf(typeName, members);
    for (const node of nodes) {
      const applied = constraints.get(node.name.value);
      if (applied) insert(node, [applied]);
    }
  };
  for (const definition of parse(text).definitions) {
    if (!('name' in definition) || !definition.name) continue;
    const type = schema.getType(definition.name.value);
    if (definition.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION && isInputObjectType(type)) {
      constrain(type.name, Object.values(type.getFields()), definition.fields ?? []);
    }
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    const fields = type.getFields();
    for (const node of definition.fields ?? []) {
      const field = fields[node.name.value];
      if (!field) continue;
      constrain(null, field.args, node.arguments ?? []);
      insert(node, [...directivesOf(field), ...costDirectivesOf(field, type.name)]);
    }
  }
  let printed = '';
  let from = 0;
  for (const { at, text: inserted } of inserts.toSorted((a, b) => a.at - b.at)) {
    printed += text.slice(from, at) + inserted;
    from = at;
  }
  return `${printed}${text.slice(from)}\n`;
}

const write =
  (schema: GraphQLSchema) =>
  ({ name, args }: AppliedDirective): string => {
    const directive = schema.getDirective(name);
    if (!directive) throw new Error(`The schema does not define @${name}.`);
    const printedArgs = directive.args.flatMap((arg) => {
      const value = args[arg.name] === undefined ? null : astFromValue(args[arg.name], arg.type);
      return value ? [`${arg.name}: ${print(value)}`] : [];
    });
    return ` @${name}${printedArgs.length > 0 ? `(${printedArgs.join(', ')})` : ''}`;
  };
