import { type AgentRecord, findAgent, listAgents } from '../../../domain/identity/organizations/agents.ts';
import { type DefaultModel, findDefaultModels } from '../../../domain/identity/organizations/default-models.ts';
import { parseGlobalId } from '../../../domain/ids.ts';
import { findModelsOfAgent } from '../../../domain/library/provider-keys/key-models.ts';
import { type AgentKeySource, findKeySources } from '../../../domain/library/provider-keys/key-sources.ts';
import { builder } from '../builder.ts';
import { defineEnum } from './define-enum.ts';
import { Organization } from './organization-ref.ts';
import { itemsOfModels, ModelProviderEnum } from './provider-key-enums.ts';
import { Session } from './sessions.ts';

/** The source of the key with which an agent calls its model provider. */
export const AgentKeySourceEnum = defineEnum<AgentKeySource>(
  'AgentKeySource',
  'The source of the key with which an agent calls its model provider.',
  {
    'USER': 'A provider key of the user.',
    'ORGANIZATION': 'A provider key of the organization.',
    'ENTERPRISE': 'A provider key of the enterprise.',
    'ENVIRONMENT': 'The environment, or a file of the service.',
    'NOT_NEEDED': 'The service has no setting for a key of the agent.',
    'NONE': 'There is no key: sessions on the agent fail until one is added.',
  },
);

const AgentSteerEnum = defineEnum<AgentRecord['steer']>(
  'AgentSteer',
  'The effect of a message that is sent while the agent works.',
  {
    wait: 'The agent receives the message at the end of its turn.',
    cancel: 'The turn is cancelled, and the agent receives the message at once.',
  },
);

export const Agent = builder.objectRef<AgentRecord>('Agent');
builder.node(Agent, {
  description: 'An agent that sessions can run on, defined by an agent profile in the configuration.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the agent profile.' },
  fields: (t) => ({
    agentId: t.exposeString('id', {
      description:
        'Id of the agent profile, for example `demo`. Used as the value of `agent` in inputs and of `Session.agent`.',
    }),
    name: t.exposeString('name', { description: 'Display name of the agent.' }),
    isDefault: t.exposeBoolean('isDefault', {
      description: 'Whether sessions run on the agent if neither the session nor its organization specifies an agent.',
    }),
    steer: t.expose('steer', {
      type: AgentSteerEnum,
      description: 'Effect of a message that is sent while the agent works.',
    }),
    // Not "version": that is the number of a resource's changes.
    programVersion: t.exposeString('version', {
      nullable: true,
      description: 'Version of the program of the agent; null if it is unknown.',
    }),
    providers: t.field({
      type: [ModelProviderEnum],
      description:
        'Providers whose provider keys the agent can use, the preferred one first. Empty if it can use none.',
      resolve: ({ id }, _args, { domain }) => [...domain.agents.providersOf(id)],
    }),
    keySource: t.field({
      type: AgentKeySourceEnum,
      nullable: true,
      description: 'Source of the key that the viewer’s own sessions on the agent have. Null only with an error.',
      args: {
        organizationId: t.arg.id({
          description:
            'Global ID or REST id of the organization of the sessions. Without it, keys of organizations and users do not count.',
        }),
      },
      resolve: ({ id }, { organizationId }, { loaders }) =>
        loaders.ofKeys(findKeySources).load({ agent: id, organizationId: organizationId ?? null }),
    }),
    models: t.stringList({
      nullable: true,
      description:
        'Models that the viewer’s own sessions on the agent can use, as values of its option `model`. The provider of the key that the sessions would have lists them; the service asks it at most every 10 minutes. Null if there is no key, or the provider does not answer.',
      args: {
        organizationId: t.arg.id({
          required: true,
          description: 'Global ID or REST id of the organization of the sessions.',
        }),
      },
      extensions: { items: itemsOfModels },
      resolve: ({ id }, { organizationId }, { domain }) => findModelsOfAgent(domain, { agent: id, organizationId }),
    }),
  }),
});

builder.queryField('agents', (t) =>
  t.field({
    type: [Agent],
    description:
      'Agents that sessions can run on, in the order of the configuration. Every organization has the same agents.',
    resolve: (_root, _args, { domain }) => listAgents(domain),
  }),
);

builder.objectField(Session, 'agentProfile', (t) =>
  t.field({
    type: Agent,
    nullable: true,
    description:
      'Agent that `agent` of the session refers to. Null if the session has no agent or the agent is no longer configured.',
    resolve: ({ agent }, _args, { domain }) => findAgent(domain, agent),
  }),
);

builder.objectField(Organization, 'defaultAgentProfile', (t) =>
  t.field({
    type: Agent,
    nullable: true,
    description:
      'Agent that `defaultAgent` of the organization refers to. Null if the organization has no default agent of its own or the agent is no longer configured.',
    resolve: ({ defaultAgent }, _args, { domain }) => findAgent(domain, defaultAgent),
  }),
);

const DefaultModelType = builder.objectRef<DefaultModel>('DefaultModel').implement({
  description: 'Model of sessions on an agent that choose none.',
  fields: (t) => ({
    agentId: t.exposeString('agentId', { description: 'Id of the agent, for example `opencode`.' }),
    model: t.exposeString('model', { description: 'Model of the sessions, as it was set.' }),
  }),
});

builder.objectField(Organization, 'defaultModels', (t) =>
  t.field({
    type: [DefaultModelType],
    description: 'Models of sessions of the organization that choose none, at most one for each agent.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.of(findDefaultModels).load(id)) ?? [],
  }),
);

/** Returns the id of an agent's profile for a global id of an agent; any other text as it is. */
export function readAgentId(id: string): string {
  const global = parseGlobalId(id);
  return global?.type === 'Agent' ? global.id : id;
}
