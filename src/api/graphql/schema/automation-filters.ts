import { AutomationRunStatusEnum } from './automation-enums.ts';
import { createdBounds, createdMembers, filterInput, orderInput } from './list-inputs.ts';

/** The input AutomationFilter. */
export const AutomationFilterInput = filterInput('Automation', (t) => ({
  search: t.string({ description: 'Only automations whose name contains this text, regardless of case.' }),
  isEnabled: t.boolean({ description: 'If true, only enabled automations. If false, only disabled ones.' }),
  isFailing: t.boolean({
    description: 'If true, only automations that failed since they last acted. If false, only the others.',
  }),
  ...createdMembers(t),
}));

/** The input AutomationOrder. */
export const AutomationOrderInput = orderInput('Automation', 'Time when the automation was created.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

/** The input AutomationRunFilter. */
export const AutomationRunFilterInput = filterInput('AutomationRun', (t) => ({
  status: t.field({ type: [AutomationRunStatusEnum], description: 'Only runs with one of these statuses.' }),
  ...createdBounds(t),
}));

/** The input AutomationRunOrder. */
export const AutomationRunOrderInput = orderInput('AutomationRun', 'Time when the run was requested.');
