import { brandWithType } from '@pothos/core';
import { GraphQLError } from 'graphql';
import { findAgent } from '../../domain/agents.ts';
import { parseGlobalId } from '../../domain/ids.ts';
import type { LogEntry } from '../../domain/sessions/log.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { eventTypeOf, eventTypes } from './event-types.ts';
import { systemPrincipal } from './principals.ts';

/** The most ids that `nodes` takes. */
const mostNodes = 100;

type Load = (context: GraphqlContext, id: string) => Promise<object | null>;

const entry =
  (type: string): Load =>
  async ({ loaders }, id) => {
    const found: LogEntry | null = await loaders.logEntries.load(id);
    return found && eventTypeOf(found) === type ? found : null;
  };

// Of what is gone its sessions still tell, but it is nobody's to ask for.
const unlessDeleted = <T extends { readonly deletedAt: Date | null }>(found: T | null) =>
  found?.deletedAt == null ? found : null;

/** How each type of node is read; a type that is not here is nobody's node. */
const loads: Record<string, Load> = {
  Session: ({ loaders }, id) => loaders.sessions.load(id),
  Organization: ({ loaders }, id) => loaders.organizations.load(id),
  Enterprise: ({ loaders }, id) => loaders.enterprises.load(id),
  User: ({ loaders }, id) => loaders.users.load(id),
  ServiceUser: ({ loaders }, id) => loaders.serviceUsers.load(id),
  ServiceKey: ({ loaders }, id) => loaders.serviceKeys.load(id),
  SystemPrincipal: async (_context, id) => (id === systemPrincipal.id ? { ...systemPrincipal } : null),
  Agent: async ({ domain }, id) => findAgent(domain, id),
  Role: ({ loaders }, id) => loaders.roles.load(id),
  KnowledgeNote: ({ loaders }, id) => loaders.notes.load(id),
  KnowledgeFolder: ({ loaders }, id) => loaders.folders.load(id),
  Automation: async ({ loaders }, id) => unlessDeleted(await loaders.automations.load(id)),
  AutomationRun: ({ loaders }, id) => loaders.automationRuns.load(id),
  Playbook: async ({ loaders }, id) => unlessDeleted(await loaders.playbooks.load(id)),
  Secret: ({ loaders }, id) => loaders.secrets.load(id),
  WebhookEndpoint: ({ loaders }, id) => loaders.webhookEndpoints.load(id),
  WebhookDelivery: ({ loaders }, id) => loaders.webhookDeliveries.load(id),
  Attachment: ({ loaders }, id) => loaders.attachments.load(id),
  Member: ({ loaders }, id) => loaders.members.load(id),
  ApiKey: ({ loaders }, id) => loaders.apiKeys.load(id),
  AuditLogEntry: ({ loaders }, id) => loaders.auditEntries.load(id),
  ...Object.fromEntries(eventTypes.map((type) => [type, entry(type)])),
};

/** Reads the object of a global ID; null if there is none that the viewer may see. */
export async function loadNode(context: GraphqlContext, globalId: string): Promise<object | null> {
  const parsed = parseGlobalId(globalId);
  const load = parsed && Object.hasOwn(loads, parsed.type) ? loads[parsed.type] : undefined;
  const node = parsed && load ? await load(context, parsed.id) : null;
  if (node && parsed) brandWithType(node, parsed.type as never);
  return node;
}

builder.queryFields((t) => ({
  node: t.field({
    type: builder.nodeInterfaceRef(),
    nullable: true,
    description: 'Looks up an object by its global ID. Null if no such object exists or the viewer may not see it.',
    args: { id: t.arg.id({ required: true, description: 'Global ID of the object to return.' }) },
    resolve: (_root, { id }, context) => loadNode(context, id) as never,
  }),
  nodes: t.field({
    type: [builder.nodeInterfaceRef()],
    nullable: { list: false, items: true },
    description:
      'Looks up objects by their global IDs, in the order of the IDs. An item is null if no such object exists or the viewer may not see it.',
    args: { ids: t.arg.idList({ required: true, description: 'Global IDs of the objects to return. Maximum 100.' }) },
    resolve: (_root, { ids }, context) => {
      if (ids.length > mostNodes) {
        throw new GraphQLError(`"ids" must have at most ${mostNodes} items, but has ${ids.length}.`, {
          extensions: { code: 'INVALID_INPUT' },
        });
      }
      return Promise.all(ids.map((id) => loadNode(context, id))) as never;
    },
  }),
}));
