import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/** A document with its variables. */
export interface RandomDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The material for documents. */
export interface RandomDocumentOptions {
  readonly schema: GraphQLSchema;
  /** Valid and invalid global ids. */
  readonly ids: readonly string[];
  /** Fields with a different value each time, such as `Query.rateLimit`. */
  readonly without: ReadonlySet<string>;
}

/** Random numbers from 0 to below 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Creates a valid query, the same for the same seed: fields of all depths, with aliases, fragments of both kinds, `@skip` and
 * `@include`, variables, and arguments, some of which are refused at run time.
 */
export function randomDocument({ schema, ids, without }: RandomDocumentOptions, seed: number): RandomDocument {
  const random = randomFrom(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const variables: Record<string, unknown> = {};
  const declared: string[] = [];
  const fragments: string[] = [];
  let names = 0;
  let budget = 60;

  const variable = (type: string, value: unknown): string => {
    const name = `v${names++}`;
    declared.push(`$${name}: ${type}`);
    if (value !== undefined) variables[name] = value;
    return `$${name}`;
  };
  const condition = (): string => {
    if (random() < 0.85) return '';
    const truth = random() < 0.5;
    return ` @${pick(['skip', 'include'])}(if: ${random() < 0.5 ? variable('Boolean!', truth) : truth})`;
  };
  const value = (name: string, type: GraphQLInputType): string | null => {
    const inner = getNamedType(type);
    const scalar: [string, unknown] | null =
      inner.name === 'ID'
        ? [JSON.stringify(pick(ids)), pick(ids)]
        : inner.name === 'Int'
          ? ((n) => [String(n), n])(pick(name === 'first' || name === 'last' ? [0, 1, 2, 3, 5, 101] : [1, 7]))
          : inner.name === 'Boolean'
            ? ((truth) => [String(truth), truth])(random() < 0.5)
            : inner.name === 'String'
              ? ((text) => [JSON.stringify(text), text])(pick(['', 'x', 'bm9uZQ']))
              : isEnumType(inner)
                ? ((each) => [each, each])(pick(inner.getValues()).name)
                : null;
    if (!scalar) return null;
    const [literal, json] = isListType(isNonNullType(type) ? type.ofType : type)
      ? [`[${scalar[0]}]`, [scalar[1]]]
      : scalar;
    if (random() < 0.1 && !isNonNullType(type)) return random() < 0.5 ? 'null' : variable(String(type), null);
    return random() < 0.4 ? variable(String(type), json) : literal;
  };
  const argumentsOf = (field: GraphQLField<unknown, unknown>): string | null => {
    const parts: string[] = [];
    for (const { name, type, defaultValue } of field.args) {
      const isNeeded = isNonNullType(type) && defaultValue === undefined;
      if (!isNeeded && random() < (name === 'first' ? 0.3 : 0.85)) continue;
      const written = value(name, type);
      if (written !== null) parts.push(`${name}: ${written}`);
      else if (isNeeded) return null;
    }
    return parts.length > 0 ? `(${parts.join(', ')})` : '';
  };
  const fieldOf = (parent: string, field: GraphQLField<unknown, unknown>, depth: number): string => {
    if (without.has(`${parent}.${field.name}`)) return '';
    const type = getNamedType(field.type);
    if (depth === 0 && !isLeafType(type)) return '';
    const args = argumentsOf(field);
    if (args === null) return '';
    budget--;
    // Fields with arguments get unique aliases: fields with one response name must have equal arguments.
    const alias = field.args.length > 0 || random() < 0.1 ? `a${names++}: ` : '';
    return `${alias}${field.name}${args}${condition()}${isLeafType(type) ? '' : ` ${selection(type, depth - 1)}`}`;
  };
  const selection = (type: GraphQLNamedType, depth: number): string => {
    const parts = ['__typename'];
    if (isObjectType(type) || isInterfaceType(type)) {
      const fields = Object.values(type.getFields());
      const wanted = 1 + Math.floor(random() * 5);
      for (let n = 0; n < wanted && budget > 0; n++) parts.push(fieldOf(type.name, pick(fields), depth));
    }
    const inner = isAbstractType(type) ? [...schema.getPossibleTypes(type)] : [];
    // Either each type has its own fields under the same names, which need aliases, or the types are equal anyway.
    if (inner.length > 0 && budget > 0) {
      const member = pick(inner);
      parts.push(`... on ${member.name} { __typename${member.getFields().id ? ' id' : ''} }`);
    }
    if (random() < 0.2 && budget > 0 && depth > 0) parts.push(`...${condition()} ${selection(type, depth - 1)}`);
    if (random() < 0.15 && budget > 0 && depth > 0) {
      const name = `F${names++}`;
      fragments.push(`fragment ${name} on ${type.name} ${selection(type, depth - 1)}`);
      parts.push(`...${name}${condition()}`, ...(random() < 0.3 ? [`...${name}`] : []));
    }
    return `{ ${parts.filter((part) => part !== '').join(' ')} }`;
  };

  const root = schema.getQueryType();
  if (!root) throw new Error('The schema has no queries.');
  const fields = Object.values(root.getFields());
  const parts: string[] = [];
  while (parts.length < 3 && budget > 0) {
    // Mostly starts at an organization, which has most of the fields.
    const field = random() < 0.5 ? fields.find(({ name }) => name === 'organization') : pick(fields);
    const part = field ? fieldOf('Query', field, 5) : '';
    if (part !== '') parts.push(part);
    else budget--;
  }
  const query = `query${declared.length > 0 ? `(${declared.join(', ')})` : ''} { __typename ${parts.join(' ')} } ${fragments.join(' ')}`;
  return { query, variables };
}
