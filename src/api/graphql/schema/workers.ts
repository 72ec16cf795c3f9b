import { findEnterprises } from '../../../domain/identity/organizations/enterprises.ts';
import { drainWorker } from '../../../domain/installation/workers/drain-worker.ts';
import { listWorkers, type WorkerRecord } from '../../../domain/installation/workers/list-workers.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';

const Worker = builder.objectRef<WorkerRecord>('Worker').implement({
  description: 'A process of the service that runs the agents of sessions.',
  fields: (t) => ({
    workerId: t.exposeString('workerId', { description: 'Id of the worker, as in the log of the service.' }),
    hostName: t.exposeString('host', { description: 'Name of the host of the worker.' }),
    activeSessionCount: t.exposeInt('activeSessions', {
      description: 'Number of sessions whose agent runs on the worker, including agents that wait for a message.',
    }),
    isDraining: t.boolean({
      description: 'Whether the worker accepts no sessions, because `drainWorker` was called.',
      resolve: ({ drainRequestedAt }) => drainRequestedAt !== null,
    }),
    drainRequestedAt: t.expose('drainRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the call of `drainWorker`; null if the worker accepts sessions.',
    }),
    isAlive: t.exposeBoolean('isAlive', {
      description: 'Whether the worker is running. A worker that has stopped is listed for one day.',
    }),
  }),
});

builder.objectField(Enterprise, 'workers', (t) =>
  t.field({
    type: [Worker],
    ...boundary('viewWorkers'),
    description: 'Workers of the service, at most 100, by host name.',
    resolve: (_enterprise, _args, { domain }) => listWorkers(domain),
  }),
);

const acts = {
  drainWorker: {
    isDrained: true,
    description:
      'Makes a worker accept no more sessions and hand over its own: it interrupts their agents, saves their workspaces, and other workers continue them. Returns at once; `Worker.activeSessionCount` has the progress. The worker stays drained, also after a restart, until `undrainWorker` is called.',
  },
  undrainWorker: { isDrained: false, description: 'Lets a drained worker accept sessions again.' },
} as const;

for (const [name, { isDrained, description }] of Object.entries(acts)) {
  addMutation(name, {
    description,
    needs: ['changeWorkers'],
    input: (t) => ({
      workerId: t.string({ required: true, description: 'Id of the worker, as in `Worker.workerId`.' }),
    }),
    payload: {
      worker: { type: Worker, description: 'The worker. Null if there are user errors.' },
      enterprise: {
        type: Enterprise,
        description: 'The enterprise; null if the viewer may not read it, or if there are user errors.',
      },
    },
    act: async ({ workerId }, { domain, loaders }) => ({
      worker: await drainWorker(domain, { workerId, isDrained }),
      enterprise: await loaders.of(findEnterprises).load(domain.viewer.enterpriseId),
    }),
  });
}
