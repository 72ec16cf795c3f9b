import { type AgentRecord, findAgent, listAgents } from '../../domain/agents.ts';
import { builder } from '../builder.ts';
import { Organization } from './organization-ref.ts';
import { Session } from './sessions.ts';

const Agent = builder.objectRef<AgentRecord>('Agent');
builder.node(Agent, {
  description: 'An agent that sessions can run on: a profile of the configuration.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    agentId: t.exposeString('id', {
      description: 'The id of the profile, for example "demo": the value of `agent` in inputs, and of `Session.agent`.',
    }),
    name: t.exposeString('name', { description: 'The name of the agent that people read.' }),
    isDefault: t.exposeBoolean('isDefault', {
      description: 'Whether sessions run on it when neither they nor their organization name an agent.',
    }),
  }),
});

builder.queryField('agents', (t) =>
  t.field({
    type: [Agent],
    description:
      'The agents that sessions can run on, in the order of the configuration; the same for every organization.',
    resolve: (_root, _args, { domain }) => listAgents(domain),
  }),
);

builder.objectField(Session, 'agentProfile', (t) =>
  t.field({
    type: Agent,
    nullable: true,
    description: 'The agent that `agent` names; null when the session has none, or its agent is no longer configured.',
    resolve: ({ agent }, _args, { domain }) => findAgent(domain, agent),
  }),
);

builder.objectField(Organization, 'defaultAgentProfile', (t) =>
  t.field({
    type: Agent,
    nullable: true,
    description:
      'The agent that `defaultAgent` names; null when the organization has no default of its own, or the agent is no longer configured.',
    resolve: ({ defaultAgent }, _args, { domain }) => findAgent(domain, defaultAgent),
  }),
);
