import { endMaintenance } from '../../../domain/maintenance/maintenance.ts';
import type { MaintenanceMode, MaintenanceReason } from '../../../domain/maintenance-mode.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { defineEnum } from './define-enum.ts';

const MaintenanceReasonEnum = defineEnum<MaintenanceReason>(
  'MaintenanceReason',
  'The reason for which the service is in maintenance mode.',
  {
    'CONFIGURED': 'The environment variable `MAINTENANCE` is set to true.',
    'COPIED_DATABASE': 'The database is a copy, for example restored from a backup.',
  },
);

const Maintenance = builder.objectRef<MaintenanceMode>('Maintenance').implement({
  description: 'Maintenance mode: requests are served, but no session or automation runs, and no webhook is sent.',
  fields: (t) => ({
    since: t.expose('since', { type: 'DateTime', description: 'Time when maintenance mode began.' }),
    reason: t.expose('reason', {
      type: MaintenanceReasonEnum,
      description: 'Reason for which maintenance mode is on.',
    }),
  }),
});

builder.queryField('maintenance', (t) =>
  t.field({
    type: Maintenance,
    nullable: true,
    description: 'Maintenance mode of the service; null if the service works normally.',
    resolve: (_root, _args, { domain }) => domain.maintenance.mode(),
  }),
);

addMutation('endMaintenance', {
  description:
    'Ends maintenance mode after a copied database was detected: all processes run sessions, automations and webhooks again. Does nothing if maintenance mode is off. INVALID_STATE if `MAINTENANCE=true` keeps it on.',
  needs: ['endMaintenance'],
  payload: {
    isEnded: {
      type: 'Boolean',
      description: 'Whether maintenance mode is off from now on; null if there are user errors.',
    },
  },
  act: async (_input, { domain }) => {
    await endMaintenance(domain);
    return { isEnded: true };
  },
});
