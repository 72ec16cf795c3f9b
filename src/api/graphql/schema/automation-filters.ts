import { builder } from '../builder.ts';
import { AutomationRunStatusEnum } from './automation-enums.ts';
import { createdBounds, createdMembers, orderInput } from './list-inputs.ts';

/** The input AutomationFilter. */
export const AutomationFilterInput = builder.inputType('AutomationFilter', {
  description: 'Conditions for a list of automations. An item must meet every condition that is given.',
  fields: (t) => ({
    search: t.string({ description: 'Only automations whose name contains this text, regardless of case.' }),
    isEnabled: t.boolean({ description: 'If true, only enabled automations. If false, only disabled ones.' }),
    isFailing: t.boolean({
      description: 'If true, only automations that failed since they last acted. If false, only the others.',
    }),
    ...createdMembers(t),
  }),
});

/** The input AutomationOrder. */
export const AutomationOrderInput = orderInput('Automation', 'Time when the automation was created.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

/** The input AutomationRunFilter. */
export const AutomationRunFilterInput = builder.inputType('AutomationRunFilter', {
  description:
    'Conditions for a list of runs. An item must meet every condition that is given, and match one value of each list.',
  fields: (t) => ({
    status: t.field({ type: [AutomationRunStatusEnum], description: 'Only runs with one of these statuses.' }),
    ...createdBounds(t),
  }),
});

/** The input AutomationRunOrder. */
export const AutomationRunOrderInput = orderInput('AutomationRun', 'Time when the run was requested.');
