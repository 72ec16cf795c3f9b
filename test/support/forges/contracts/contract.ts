import type { ForgeAnswer, ForgeRequest } from '../forge-server.ts';

/** One operation of a published API. A type is `string`, `number`, `boolean`, `any`, or the name of a schema, with `[]` for a list. */
export interface Operation {
  readonly method: string;
  /** Below the base of the API. */
  readonly path: RegExp;
  /** The type of the body; undefined: there is none. */
  readonly takes?: string;
  /** The type of a successful response; undefined: text, or nothing of interest. */
  readonly gives?: string;
  readonly query?: readonly string[];
}

/** The part of a published description that the clients use: the operations, and the properties of each schema with their types. */
export interface Contract {
  readonly basePath: string;
  /** Address of another API of the forge, whose requests are not compared. */
  readonly otherPath?: string;
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The type of the response of a refusal. */
  readonly refusal: string;
  /** Properties that the test server has and the forge lacks, as `Schema.property`. */
  readonly extras?: ReadonlySet<string>;
}

/** Reads the properties of schemas from lines such as `name:string labels:Label[]`. */
export const readSchemas = (lines: Readonly<Record<string, string>>): Contract['schemas'] =>
  Object.fromEntries(
    Object.entries(lines).map(([name, line]) => [
      name,
      Object.fromEntries(line.split(/\s+/).map((property) => property.split(':') as [string, string])),
    ]),
  );

/** Returns how a request of a client, and the answer of a test forge, differ from the published description. */
export function differencesOf(contract: Contract, { method, url, body }: ForgeRequest, answer: ForgeAnswer): string[] {
  if (url.pathname === contract.otherPath) return [];
  const path = url.pathname.slice(contract.basePath.length);
  const what = `${method} ${path}`;
  if (!url.pathname.startsWith(contract.basePath)) return [`${method} ${url.pathname}: not below ${contract.basePath}`];
  const operation = contract.operations.find((each) => each.method === method && each.path.test(path));
  if (!operation) return [`${what}: no such operation`];
  const { takes, gives, query = [] } = operation;
  const parameters = [...new Set(url.searchParams.keys())].filter((name) => !query.includes(name));
  const sent: unknown = body === '' ? undefined : JSON.parse(body);
  const received = (answer.status ?? 200) >= 400 ? contract.refusal : gives;
  return [
    ...parameters.map((name) => `${what}: no parameter "${name}"`),
    ...(sent === undefined
      ? []
      : takes === undefined
        ? [`${what}: takes no body`]
        : compare(contract, takes, sent, `${what} takes`)),
    ...(received === undefined ? [] : compare(contract, received, bodyOf(answer), `${what} gives`)),
  ];
}

// A server behind another one passes on the text.
const bodyOf = ({ body }: ForgeAnswer): unknown =>
  typeof body === 'string' && /^[[{]/.test(body) ? JSON.parse(body) : body;

// A description says of no property that it cannot be null, and forges send null for most.
function compare(contract: Contract, type: string, value: unknown, at: string): string[] {
  if (value === null || type === 'any') return [];
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return [`${at}: must be a list`];
    return value.flatMap((each, index) => compare(contract, type.slice(0, -2), each, `${at}[${index}]`));
  }
  const schema = contract.schemas[type];
  if (schema === undefined) return typeof value === type ? [] : [`${at}: must be a ${type}`];
  if (typeof value !== 'object' || Array.isArray(value)) return [`${at}: must be a ${type}`];
  return Object.entries(value as object).flatMap(([name, each]) => {
    const property = Object.hasOwn(schema, name) ? schema[name] : undefined;
    if (property === undefined && contract.extras?.has(`${type}.${name}`)) return [];
    if (property === undefined) return [`${at}.${name}: ${type} has no such property`];
    return compare(contract, property, each, `${at}.${name}`);
  });
}
