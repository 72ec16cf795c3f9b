import { builder } from '../builder.ts';
import { AutomationRunStatusEnum } from './automation-enums.ts';
import { createdBounds, createdMembers, orderInput } from './list-inputs.ts';

/** The input AutomationFilter. */
export const AutomationFilterInput = builder.inputType('AutomationFilter', {
  description: 'Narrows a list of automations: all members that are given must hold.',
  fields: (t) => ({
    search: t.string({ description: 'Only automations whose name contains this text, upper and lower case alike.' }),
    isEnabled: t.boolean({ description: 'Only enabled automations, or only others; both when left out.' }),
    isFailing: t.boolean({
      description: 'Only automations that have failed since they last acted, or only others; both when left out.',
    }),
    ...createdMembers(t),
  }),
});

/** The input AutomationOrder. */
export const AutomationOrderInput = orderInput('Automation', 'When the automation was made.', {
  name: 'The first 64 characters of the name, upper and lower case alike.',
});

/** The input AutomationRunFilter. */
export const AutomationRunFilterInput = builder.inputType('AutomationRunFilter', {
  description: 'Narrows a list of runs: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    status: t.field({ type: [AutomationRunStatusEnum], description: 'Only runs with one of these statuses.' }),
    ...createdBounds(t),
  }),
});

/** The input AutomationRunOrder. */
export const AutomationRunOrderInput = orderInput('AutomationRun', 'When the run was asked for.');
