import { type AutomationRecord, getAutomationPlace } from '../../domain/automations/automations.ts';
import {
  type AutomationChange,
  createAutomation,
  deleteAutomation,
  updateAutomation,
  type WrittenAutomation,
} from '../../domain/automations/change-automations.ts';
import type { AutomationInput } from '../../domain/automations/definition.ts';
import { rotateIncomingWebhookSecret } from '../../domain/automations/rotate-webhook-secret.ts';
import { runAutomation } from '../../domain/automations/run-automation.ts';
import type { AutomationRun } from '../../domain/automations/runs.ts';
import type { Context } from '../../domain/context.ts';
import { type Issue, invalidInput } from '../../domain/errors.ts';
import { globalId } from '../../domain/ids.ts';
import { boundOrganizationId } from '../../domain/organizations/use-organization.ts';
import type { VersionCondition } from '../../domain/versions.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { placingIssues, readDefinition } from './automation-definition.ts';
import { AutomationActionInput, AutomationTriggerInput } from './automation-definition-inputs.ts';
import { automationDescriptions as said } from './automation-descriptions.ts';
import { optionFields } from './automation-inputs.ts';
import { AutomationRunType } from './automation-runs.ts';
import { Automation } from './automations.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  idempotencyKeyOf,
  payloadType,
} from './payloads.ts';
import { organizationIdDescription } from './places.ts';

const automationIdDescription = 'The automation: its global ID, or any form of its id.';

const CreateAutomationInput = builder.inputType('CreateAutomationInput', {
  description: 'What an automation is made from.',
  fields: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    name: t.string({ required: true, description: said.name }),
    triggers: t.field({ type: [AutomationTriggerInput], required: true, description: said.triggers }),
    actions: t.field({ type: [AutomationActionInput], required: true, description: said.actions }),
    isEnabled: t.boolean({ defaultValue: true, description: said.isEnabled }),
    ...optionFields(t),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateAutomationInput = builder.inputType('UpdateAutomationInput', {
  description: 'How an automation is to change: what is left out stays, null takes away.',
  fields: (t) => ({
    automationId: t.id({ required: true, description: automationIdDescription }),
    name: t.string({ description: `${said.name} Not null.` }),
    triggers: t.field({ type: [AutomationTriggerInput], description: `${said.triggers} Not null.` }),
    actions: t.field({ type: [AutomationActionInput], description: `${said.actions} Not null.` }),
    ...optionFields(t),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RunAutomationInput = builder.inputType('RunAutomationInput', {
  description: 'Which automation is to act now.',
  fields: (t) => ({
    automationId: t.id({ required: true, description: automationIdDescription }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RunAutomationPayload = payloadType<{ run: AutomationRun }>(
  'RunAutomationPayload',
  'What an automation did when it was told to act.',
  (t) => ({
    run: t.expose('run', {
      type: AutomationRunType,
      nullable: true,
      description: 'The run: it may also wait, have been left out or have failed.',
    }),
  }),
);

interface Written {
  readonly automation: AutomationRecord;
  readonly webhookSecret: string | null;
}

function writtenType(name: string, description: string) {
  return payloadType<Written>(name, description, (t) => ({
    automation: t.expose('automation', { type: Automation, nullable: true, description: 'The automation.' }),
    webhookSecret: t.exposeString('webhookSecret', {
      nullable: true,
      description:
        'What callers of its webhook:incoming send as X-Webhook-Secret. Shown once, by the mutation that made it; null otherwise.',
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
    automation: t.expose('automation', { type: Automation, nullable: true, description: 'The automation.' }),
  }));

const EnableAutomationInput = switchInput('EnableAutomationInput', 'Which automation is to act.');
const DisableAutomationInput = switchInput('DisableAutomationInput', 'Which automation is to act no more.');
const DeleteAutomationInput = builder.inputType('DeleteAutomationInput', {
  description: 'The automation that is to be deleted.',
  fields: (t) => ({
    automationId: t.id({ required: true, description: automationIdDescription }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RotateAutomationWebhookSecretInput = switchInput(
  'RotateAutomationWebhookSecretInput',
  'Which automation’s incoming webhook is to have another secret.',
);

const DeleteAutomationPayload = payloadType<{ deletedAutomationId: string }>(
  'DeleteAutomationPayload',
  'An automation that was deleted.',
  (t) => ({
    deletedAutomationId: t.expose('deletedAutomationId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of what is gone.',
    }),
  }),
);

type Definition = Partial<typeof CreateAutomationInput.$inferInput> | Partial<typeof UpdateAutomationInput.$inferInput>;

// In the words of the domain.
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

/** INVALID_INPUT for null where a value is needed: left out is something else. */
function requireNoNulls(change: Definition): void {
  const issues = (['name', 'triggers', 'actions'] as const).flatMap((name): Issue[] =>
    change[name] === null ? [{ path: [name], message: `"${name}" must not be null: leave it out to keep it.` }] : [],
  );
  if (issues.length > 0) throw invalidInput(issues);
}

async function change(
  domain: Context,
  automationId: string,
  wanted: AutomationChange & VersionCondition,
): Promise<WrittenAutomation> {
  return updateAutomation(domain, await getAutomationPlace(domain, automationId), wanted);
}

addMutation('createAutomation', {
  input: CreateAutomationInput,
  payload: writtenType('CreateAutomationPayload', 'An automation that was made.'),
  needs: ['changeAutomations'],
  description: 'Makes an automation. One that runs as its creator needs USE_PERSONAL_AUTOMATIONS too.',
  act: async (input, context, info) => {
    const { organizationId, idempotencyKey: _key, clientMutationId: _mutation, isEnabled, ...rest } = input;
    const place = organizationId ?? boundOrganizationId(context.domain);
    const idempotencyKey = idempotencyKeyOf(context, input, info);
    return placingIssues(input, () => {
      const automation = { ...readInput(rest), enabled: isEnabled ?? true } as AutomationInput;
      return createAutomation(context.domain, place, automation, { idempotencyKey });
    });
  },
});

addMutation('updateAutomation', {
  input: UpdateAutomationInput,
  payload: writtenType('UpdateAutomationPayload', 'An automation that was changed.'),
  needs: ['changeAutomations'],
  description: 'Changes an automation. One that runs as another user needs IMPERSONATE_ORG_SESSIONS too.',
  act: async (input, { domain }) => {
    const { automationId, expectedVersion, clientMutationId: _mutation, ...rest } = input;
    requireNoNulls(input);
    return placingIssues(input, () =>
      change(domain, automationId, { ...(readInput(rest) as AutomationChange), expectedVersion }),
    );
  },
});

addMutation('enableAutomation', {
  input: EnableAutomationInput,
  payload: switched('EnableAutomationPayload', 'An automation that acts.'),
  needs: ['changeAutomations'],
  description: 'Enables an automation: its triggers start it again. Does nothing if it is enabled.',
  act: async (input, { domain }) => {
    const { automation } = await change(domain, input.automationId, { enabled: true });
    return { automation };
  },
});

addMutation('disableAutomation', {
  input: DisableAutomationInput,
  payload: switched('DisableAutomationPayload', 'An automation that does not act.'),
  needs: ['changeAutomations'],
  description: 'Disables an automation: its triggers no longer start it. Does nothing if it is disabled.',
  act: async (input, { domain }) => {
    const { automation } = await change(domain, input.automationId, { enabled: false });
    return { automation };
  },
});

addMutation('rotateAutomationWebhookSecret', {
  input: RotateAutomationWebhookSecretInput,
  payload: writtenType('RotateAutomationWebhookSecretPayload', 'An automation whose webhook has another secret.'),
  needs: ['changeAutomations'],
  description:
    'Gives the incoming webhook of an automation another secret; the one before is good no more. One that runs as another user needs IMPERSONATE_ORG_SESSIONS too.',
  act: async (input, { domain }) =>
    rotateIncomingWebhookSecret(domain, await getAutomationPlace(domain, input.automationId)),
});

addMutation('runAutomation', {
  input: RunAutomationInput,
  payload: RunAutomationPayload,
  needs: ['changeAutomations'],
  description:
    'Lets an automation act now, also one that is disabled; its times stay as they are. One that runs as another user needs IMPERSONATE_ORG_SESSIONS too.',
  act: async (input, context, info) => {
    const place = await getAutomationPlace(context.domain, input.automationId);
    const idempotencyKey = idempotencyKeyOf(context, input, info);
    return { run: await runAutomation(context.domain, place, { idempotencyKey }) };
  },
});

addMutation('deleteAutomation', {
  input: DeleteAutomationInput,
  payload: DeleteAutomationPayload,
  needs: ['changeAutomations'],
  description: 'Deletes an automation; sessions that it started stay.',
  act: async (input, { domain }) => {
    const { id } = await deleteAutomation(domain, await getAutomationPlace(domain, input.automationId), input);
    return { deletedAutomationId: globalId('automation', id) };
  },
});
