import { type AgentRecord, findAgent, listAgents } from '../../../domain/identity/organizations/agents.ts';
import { builder } from '../builder.ts';
import { Organization } from './organization-ref.ts';
import { Session } from './sessions.ts';

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
