import { brandWithType } from '@pothos/core';
import { GraphQLError } from 'graphql';
import { findAgent } from '../../../domain/identity/organizations/agents.ts';
import { parseGlobalId, parsePrefixedId } from '../../../domain/ids.ts';
import type { LogEntry } from '../../../domain/sessions/log.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { eventTypeOf, eventTypes } from './event-types.ts';
import { systemPrincipal } from './principals.ts';
import { typedResources } from './resources.ts';

/** The maximum number of ids that `nodes` takes. */
const maxNodes = 100;

const nodeIdForms = 'A global ID, or a REST id with its prefix, such as `playbook-…`. `key-…` means an API key.';

type Load = (context: GraphqlContext, id: string) => Promise<object | null>;

const entry =
  (type: string): Load =>
  async ({ loaders }, id) => {
    const found: LogEntry | null = await loaders.logEntries.load(id);
    return found && eventTypeOf(found) === type ? found : null;
  };

/** The loader of each node type. A type that is not listed cannot be looked up. */
const loads: Readonly<Record<string, Load>> = {
  ...Object.fromEntries(typedResources.map(({ typeName, load }) => [typeName, load])),
  ...Object.fromEntries(eventTypes.map((type) => [type, entry(type)])),
  SystemPrincipal: async (_context, id) => (id === systemPrincipal.id ? { ...systemPrincipal } : null),
  Agent: async ({ domain }, id) => findAgent(domain, id),
};

/** Loads an object by its type and unprefixed id, and marks its type; null if the viewer may see none. */
export async function loadOf(context: GraphqlContext, type: string, id: string): Promise<object | null> {
  // Each kind of entry has a type of its own.
  if (type === 'SessionEvent') {
    const found: LogEntry | null = await context.loaders.logEntries.load(id);
    return found && marked(found, eventTypeOf(found));
  }
  const load = Object.hasOwn(loads, type) ? loads[type] : undefined;
  const node = load ? await load(context, id) : null;
  return node && marked(node, type);
}

function marked(node: object, type: string): object {
  brandWithType(node, type as never);
  return node;
}

/** Loads the object of a global ID or a prefixed id; null if the viewer may see none. */
export async function loadNode(context: GraphqlContext, id: string): Promise<object | null> {
  const parsed = parseGlobalId(id) ?? parsePrefixedId(id);
  return parsed && loadOf(context, parsed.type, parsed.id);
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description: 'Looks up an object by its id. Null if no such object exists or the viewer may not see it.',
    args: { id: t.arg.id({ required: true, description: `Id of the object to return. ${nodeIdForms}` }) },
    resolve: (_root, { id }, context) => loadNode(context, id) as never,
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description:
      'Looks up objects by their ids, in the order of the ids. An item is null if no such object exists or the viewer may not see it.',
    args: {
      ids: t.arg.idList({
        required: true,
        description: `Ids of the objects to return. Maximum ${maxNodes}. ${nodeIdForms}`,
        extensions: { limits: { maxItems: maxNodes } },
      }),
    },
    resolve: (_root, { ids }, context) => {
      if (ids.length > maxNodes) {
        throw new GraphQLError(`"ids" must have at most ${maxNodes} items, but has ${ids.length}.`, {
          extensions: { code: 'INVALID_INPUT', path: ['ids'] },
        });
      }
      return Promise.all(ids.map((id) => loadNode(context, id))) as never;
    },
  }),
}));
