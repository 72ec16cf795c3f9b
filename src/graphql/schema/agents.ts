import { type AgentRecord, listAgents } from '../../domain/agents.ts';
import { builder } from '../builder.ts';

const Agent = builder.objectRef<AgentRecord>('Agent').implement({
  description: 'A kind of agent that sessions may be given: a profile of the configuration.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What `agent` of a session names it by.' }),
    name: t.exposeString('name', { description: 'What people read.' }),
    isDefault: t.exposeBoolean('isDefault', {
      description: 'Whether it is taken where neither the session nor its organization names one.',
    }),
  }),
});

builder.queryField('agents', (t) =>
  t.field({
    type: [Agent],
    description: 'The agents that sessions may be given, the same for every organization.',
    resolve: (_root, _args, { domain }) => listAgents(domain),
  }),
);
