import { endMaintenance } from '../../domain/maintenance/maintenance.ts';
import type { MaintenanceMode, MaintenanceReason } from '../../domain/maintenance/mode.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';

const MaintenanceReasonEnum = builder.enumType('MaintenanceReason', {
  description: 'Why the service is in maintenance mode.',
  values: {
    CONFIGURED: { value: 'CONFIGURED', description: 'The variable MAINTENANCE is true.' },
    COPIED_DATABASE: {
      value: 'COPIED_DATABASE',
      description: 'The database is a copy, for example restored from a backup.',
    },
  } satisfies Record<MaintenanceReason, { value: MaintenanceReason; description: string }>,
});

const Maintenance = builder.objectRef<MaintenanceMode>('Maintenance').implement({
  description: 'Maintenance mode: requests are served, but no session or automation runs, and no webhook is sent.',
  fields: (t) => ({
    since: t.expose('since', { type: 'DateTime', description: 'When it began.' }),
    reason: t.expose('reason', { type: MaintenanceReasonEnum, description: 'Why it is on.' }),
  }),
});

builder.queryField('maintenance', (t) =>
  t.field({
    type: Maintenance,
    nullable: true,
    description: 'Maintenance mode of the service; null if it works normally.',
    resolve: (_root, _args, { domain }) => domain.maintenance.mode(),
  }),
);

const EndMaintenanceInput = builder.inputType('EndMaintenanceInput', {
  description: 'Ends maintenance mode.',
  fields: (t) => ({ clientMutationId: t.string({ description: clientMutationIdDescription }) }),
});

const EndMaintenancePayload = payloadType<{ isEnded: boolean }>(
  'EndMaintenancePayload',
  'The end of maintenance mode.',
  (t) => ({
    isEnded: t.exposeBoolean('isEnded', {
      nullable: true,
      description: 'True if maintenance mode is off from now on.',
    }),
  }),
);

addMutation('endMaintenance', {
  input: EndMaintenanceInput,
  payload: EndMaintenancePayload,
  needs: ['endMaintenance'],
  description:
    'Ends maintenance mode after a copied database was detected: all processes run sessions, automations and webhooks again. Does nothing if it is off. INVALID_STATE if MAINTENANCE=true keeps it on.',
  act: async (_input, { domain }) => {
    await endMaintenance(domain);
    return { isEnded: true };
  },
});
