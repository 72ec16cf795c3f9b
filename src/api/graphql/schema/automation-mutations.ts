import type { InputShapeFromFields } from '@pothos/core';
import {
  type AutomationChange,
  createAutomation,
  deleteAutomation,
  updateAutomation,
} from '../../../domain/automations/change-automations.ts';
import { getAutomationRef } from '../../../domain/automations/model/automations.ts';
import type { AutomationInput } from '../../../domain/automations/model/definition.ts';
import { rotateIncomingWebhookSecret } from '../../../domain/automations/rotate-webhook-secret.ts';
import { runAutomation } from '../../../domain/automations/run-automation.ts';
import type { Context } from '../../../domain/context.ts';
import { boundOrganizationId } from '../../../domain/identity/organizations/use-organization.ts';
import { globalId } from '../../../domain/ids.ts';
import type { VersionCondition } from '../../../domain/versions.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { readDefinition, withInputPaths } from './automation-definition.ts';
import { AutomationActionInput, AutomationTriggerInput } from './automation-definition-inputs.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import { optionFields } from './automation-inputs.ts';
import { AutomationRunType } from './automation-runs.ts';
import { Automation } from './automations.ts';
import { refuseNulls } from './payloads.ts';
import { organizationIdDescription } from './scope-input.ts';

const oneAutomation = (t: InputFields) => ({
  automationId: t.id({ required: true, description: 'Global ID or REST id of the automation.' }),
});

/** The values of an automation in both inputs. An update may leave the required ones out, but not clear them. */
function valueFields<Required extends boolean>(t: InputFields, required: Required) {
  const notNull = required ? '' : ' Must not be null.';
  return {
    name: t.string({ required, description: `${descriptions.name}${notNull}` }),
    triggers: t.field({ type: [AutomationTriggerInput], required, description: `${descriptions.triggers}${notNull}` }),
    actions: t.field({ type: [AutomationActionInput], required, description: `${descriptions.actions}${notNull}` }),
    ...optionFields(t, required ? 'create' : 'update'),
  };
}

const withSecret = {
  automation: Automation,
  webhookSecret: {
    type: 'String',
    description:
      'Secret that authenticates callers of the incoming webhook, for example in the header `X-Webhook-Secret`. Returned only by the mutation that creates the secret, otherwise null.',
  },
} as const;

type Definition = Partial<InputShapeFromFields<ReturnType<typeof valueFields<boolean>>>>;

// Converts the input to the domain's form.
function readInput({ triggers, actions, tools, ...rest }: Definition) {
  return {
    ...rest,
    ...readDefinition({ triggers, actions }),
    ...(tools !== undefined && { tools: tools && readTools(tools) }),
  };
}

const readTools = ({ isLinearEnabled: linearEnabled, ...tools }: NonNullable<Definition['tools']>) => ({
  ...tools,
  ...(linearEnabled !== undefined && { linearEnabled }),
});

const change = async (domain: Context, automationId: string, wanted: AutomationChange & VersionCondition) =>
  updateAutomation(domain, await getAutomationRef(domain, automationId), wanted);

/** The payload of createAutomation. */
export const CreateAutomationPayload = addMutation('createAutomation', {
  description:
    'Creates an automation. An automation that runs as its creator also requires `USE_PERSONAL_AUTOMATIONS`. The viewer also needs the permissions that its actions require.',
  needs: ['changeAutomations'],
  input: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    ...valueFields(t, true),
    isEnabled: t.boolean({ defaultValue: true, description: descriptions.isEnabled }),
  }),
  takes: 'idempotencyKey',
  payload: withSecret,
  act: async (input, context, options) => {
    const { organizationId, isEnabled, ...rest } = input;
    const targetOrganizationId = organizationId ?? boundOrganizationId(context.domain);
    return withInputPaths(input, () => {
      const automation = { ...readInput(rest), enabled: isEnabled ?? true } as AutomationInput;
      return createAutomation(context.domain, targetOrganizationId, automation, options);
    });
  },
});

addMutation('updateAutomation', {
  description:
    'Changes an automation. An automation that runs as another user also requires `IMPERSONATE_ORG_SESSIONS`.',
  needs: ['changeAutomations'],
  input: (t) => ({ ...oneAutomation(t), ...valueFields(t, false) }),
  takes: 'expectedVersion',
  payload: withSecret,
  act: async (input, { domain }) => {
    const { automationId, expectedVersion, ...rest } = input;
    refuseNulls(input, ['name', 'triggers', 'actions', 'runAs']);
    return withInputPaths(input, () =>
      change(domain, automationId, { ...(readInput(rest) as AutomationChange), expectedVersion }),
    );
  },
});

addMutation('enableAutomation', {
  description:
    'Enables an automation, so that its triggers start runs. Does nothing if the automation is already enabled.',
  needs: ['changeAutomations'],
  input: oneAutomation,
  payload: { automation: Automation },
  act: async (input, { domain }) => {
    const { automation } = await change(domain, input.automationId, { enabled: true });
    return { automation };
  },
});

addMutation('disableAutomation', {
  description:
    'Disables an automation, so that its triggers no longer start runs. Does nothing if the automation is already disabled.',
  needs: ['changeAutomations'],
  input: oneAutomation,
  payload: { automation: Automation },
  act: async (input, { domain }) => {
    const { automation } = await change(domain, input.automationId, { enabled: false });
    return { automation };
  },
});

addMutation('rotateAutomationWebhookSecret', {
  description:
    'Replaces the secret of the incoming webhook of an automation. The previous secret stops working immediately. An automation that runs as another user also requires `IMPERSONATE_ORG_SESSIONS`.',
  needs: ['changeAutomations'],
  input: oneAutomation,
  takes: 'idempotencyKey',
  payload: withSecret,
  act: async (input, { domain }, options) =>
    rotateIncomingWebhookSecret(domain, await getAutomationRef(domain, input.automationId), options),
});

addMutation('runAutomation', {
  description:
    'Runs an automation immediately, even if the automation is disabled. Its schedule does not change, and its limits apply. An automation that runs as another user also requires `IMPERSONATE_ORG_SESSIONS`.',
  needs: ['changeAutomations'],
  input: oneAutomation,
  takes: 'idempotencyKey',
  payload: {
    run: {
      type: AutomationRunType,
      description: 'Run that was created, which can also be queued, skipped or failed. Null if there are user errors.',
    },
  },
  act: async (input, context, options) => {
    const automationRef = await getAutomationRef(context.domain, input.automationId);
    return { run: await runAutomation(context.domain, automationRef, options) };
  },
});

addMutation('deleteAutomation', {
  description: 'Deletes an automation. Sessions that the automation started are not deleted.',
  needs: ['changeAutomations'],
  input: oneAutomation,
  takes: 'expectedVersion',
  payload: { deletedAutomationId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deleteAutomation(domain, await getAutomationRef(domain, input.automationId), input);
    return { deletedAutomationId: globalId('automation', id) };
  },
});
