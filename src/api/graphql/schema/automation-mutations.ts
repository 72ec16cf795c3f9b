import {
  type AutomationChange,
  createAutomation,
  deleteAutomation,
  updateAutomation,
  type WrittenAutomation,
} from '../../../domain/automations/change-automations.ts';
import { type AutomationRecord, getAutomationRef } from '../../../domain/automations/model/automations.ts';
import type { AutomationInput } from '../../../domain/automations/model/definition.ts';
import type { AutomationRun } from '../../../domain/automations/model/runs.ts';
import { rotateIncomingWebhookSecret } from '../../../domain/automations/rotate-webhook-secret.ts';
import { runAutomation } from '../../../domain/automations/run-automation.ts';
import type { Context } from '../../../domain/context.ts';
import { boundOrganizationId } from '../../../domain/identity/organizations/use-organization.ts';
import { globalId } from '../../../domain/ids.ts';
import type { VersionCondition } from '../../../domain/versions.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { readDefinition, withInputPaths } from './automation-definition.ts';
import { AutomationActionInput, AutomationTriggerInput } from './automation-definition-inputs.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import { optionFields } from './automation-inputs.ts';
import { AutomationRunType } from './automation-runs.ts';
import { Automation } from './automations.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  keyedPayloadType,
  payloadType,
  refuseNulls,
} from './payloads.ts';
import { organizationIdDescription } from './scope-input.ts';

const automationIdDescription = 'Global ID or REST id of the automation.';

const CreateAutomationInput = builder.inputType('CreateAutomationInput', {
  description: 'Input for creating an automation.',
  fields: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    name: t.string({ required: true, description: descriptions.name }),
    triggers: t.field({ type: [AutomationTriggerInput], required: true, description: descriptions.triggers }),
    actions: t.field({ type: [AutomationActionInput], required: true, description: descriptions.actions }),
    isEnabled: t.boolean({ defaultValue: true, description: descriptions.isEnabled }),
    ...optionFields(t, 'create'),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateAutomationInput = builder.inputType('UpdateAutomationInput', {
  description:
    'Input for changing an automation. Fields that are left out keep their values. Null clears optional fields.',
  fields: (t) => ({
    automationId: t.id({ required: true, description: automationIdDescription }),
    name: t.string({ description: `${descriptions.name} Must not be null.` }),
    triggers: t.field({ type: [AutomationTriggerInput], description: `${descriptions.triggers} Must not be null.` }),
    actions: t.field({ type: [AutomationActionInput], description: `${descriptions.actions} Must not be null.` }),
    ...optionFields(t, 'update'),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RunAutomationInput = builder.inputType('RunAutomationInput', {
  description: 'Input for running an automation immediately.',
  fields: (t) => ({
    automationId: t.id({ required: true, description: automationIdDescription }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RunAutomationPayload = keyedPayloadType<{ run: AutomationRun }>(
  'RunAutomationPayload',
  'Result of requesting a run of an automation.',
  (t) => ({
    run: t.expose('run', {
      type: AutomationRunType,
      nullable: true,
      description: 'Run that was created, which can also be queued, skipped or failed. Null if there are user errors.',
    }),
  }),
);

interface Written {
  readonly automation: AutomationRecord;
  readonly webhookSecret: string | null;
}

function writtenType(name: string, description: string, type = keyedPayloadType) {
  return type<Written>(name, description, (t) => ({
    automation: t.expose('automation', {
      type: Automation,
      nullable: true,
      description: 'Automation after the mutation. Null if there are user errors.',
    }),
    webhookSecret: t.exposeString('webhookSecret', {
      nullable: true,
      description:
        'Secret that authenticates callers of the incoming webhook, for example in the header `X-Webhook-Secret`. Returned only by the mutation that creates the secret, otherwise null.',
    }),
  }));
}

function switchInput(name: string, description: string) {
  return builder.inputType(name, {
    description,
    fields: (t) => ({
      automationId: t.id({ required: true, description: automationIdDescription }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });
}

const switched = (name: string, description: string) =>
  payloadType<{ automation: AutomationRecord }>(name, description, (t) => ({
    automation: t.expose('automation', {
      type: Automation,
      nullable: true,
      description: 'Automation after the mutation. Null if there are user errors.',
    }),
  }));

const EnableAutomationInput = switchInput('EnableAutomationInput', 'Input for enabling an automation.');
const DisableAutomationInput = switchInput('DisableAutomationInput', 'Input for disabling an automation.');
const DeleteAutomationInput = builder.inputType('DeleteAutomationInput', {
  description: 'Input for deleting an automation.',
  fields: (t) => ({
    automationId: t.id({ required: true, description: automationIdDescription }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RotateAutomationWebhookSecretInput = builder.inputType('RotateAutomationWebhookSecretInput', {
  description: 'Input for replacing the secret of the incoming webhook of an automation.',
  fields: (t) => ({
    automationId: t.id({ required: true, description: automationIdDescription }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteAutomationPayload = payloadType<{ deletedAutomationId: string }>(
  'DeleteAutomationPayload',
  'Result of deleting an automation.',
  (t) => ({
    deletedAutomationId: t.expose('deletedAutomationId', {
      type: 'ID',
      nullable: true,
      description: 'Global ID of the deleted automation. Null if there are user errors.',
    }),
  }),
);

type Definition = Partial<typeof CreateAutomationInput.$inferInput> | Partial<typeof UpdateAutomationInput.$inferInput>;

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

async function change(
  domain: Context,
  automationId: string,
  wanted: AutomationChange & VersionCondition,
): Promise<WrittenAutomation> {
  return updateAutomation(domain, await getAutomationRef(domain, automationId), wanted);
}

/** The payload of createAutomation. */
export const CreateAutomationPayload = writtenType('CreateAutomationPayload', 'Result of creating an automation.');

addMutation('createAutomation', {
  input: CreateAutomationInput,
  payload: CreateAutomationPayload,
  needs: ['changeAutomations'],
  description:
    'Creates an automation. An automation that runs as its creator also requires `USE_PERSONAL_AUTOMATIONS`. The viewer also needs the permissions that its actions require.',
  act: async (input, context, options) => {
    const { organizationId, idempotencyKey: _key, clientMutationId: _mutation, isEnabled, ...rest } = input;
    const targetOrganizationId = organizationId ?? boundOrganizationId(context.domain);
    return withInputPaths(input, () => {
      const automation = { ...readInput(rest), enabled: isEnabled ?? true } as AutomationInput;
      return createAutomation(context.domain, targetOrganizationId, automation, options);
    });
  },
});

addMutation('updateAutomation', {
  input: UpdateAutomationInput,
  payload: writtenType('UpdateAutomationPayload', 'Result of changing an automation.', payloadType),
  needs: ['changeAutomations'],
  description:
    'Changes an automation. An automation that runs as another user also requires `IMPERSONATE_ORG_SESSIONS`.',
  act: async (input, { domain }) => {
    const { automationId, expectedVersion, clientMutationId: _mutation, ...rest } = input;
    refuseNulls(input, ['name', 'triggers', 'actions', 'runAs']);
    return withInputPaths(input, () =>
      change(domain, automationId, { ...(readInput(rest) as AutomationChange), expectedVersion }),
    );
  },
});

addMutation('enableAutomation', {
  input: EnableAutomationInput,
  payload: switched('EnableAutomationPayload', 'Result of enabling an automation.'),
  needs: ['changeAutomations'],
  description:
    'Enables an automation, so that its triggers start runs. Does nothing if the automation is already enabled.',
  act: async (input, { domain }) => {
    const { automation } = await change(domain, input.automationId, { enabled: true });
    return { automation };
  },
});

addMutation('disableAutomation', {
  input: DisableAutomationInput,
  payload: switched('DisableAutomationPayload', 'Result of disabling an automation.'),
  needs: ['changeAutomations'],
  description:
    'Disables an automation, so that its triggers no longer start runs. Does nothing if the automation is already disabled.',
  act: async (input, { domain }) => {
    const { automation } = await change(domain, input.automationId, { enabled: false });
    return { automation };
  },
});

addMutation('rotateAutomationWebhookSecret', {
  input: RotateAutomationWebhookSecretInput,
  payload: writtenType(
    'RotateAutomationWebhookSecretPayload',
    'Result of replacing the secret of the incoming webhook of an automation.',
  ),
  needs: ['changeAutomations'],
  description:
    'Replaces the secret of the incoming webhook of an automation. The previous secret stops working immediately. An automation that runs as another user also requires `IMPERSONATE_ORG_SESSIONS`.',
  act: async (input, { domain }, options) =>
    rotateIncomingWebhookSecret(domain, await getAutomationRef(domain, input.automationId), options),
});

addMutation('runAutomation', {
  input: RunAutomationInput,
  payload: RunAutomationPayload,
  needs: ['changeAutomations'],
  description:
    'Runs an automation immediately, even if the automation is disabled. Its schedule does not change, and its limits apply. An automation that runs as another user also requires `IMPERSONATE_ORG_SESSIONS`.',
  act: async (input, context, options) => {
    const automationRef = await getAutomationRef(context.domain, input.automationId);
    return { run: await runAutomation(context.domain, automationRef, options) };
  },
});

addMutation('deleteAutomation', {
  input: DeleteAutomationInput,
  payload: DeleteAutomationPayload,
  needs: ['changeAutomations'],
  description: 'Deletes an automation. Sessions that the automation started are not deleted.',
  act: async (input, { domain }) => {
    const { id } = await deleteAutomation(domain, await getAutomationRef(domain, input.automationId), input);
    return { deletedAutomationId: globalId('automation', id) };
  },
});
