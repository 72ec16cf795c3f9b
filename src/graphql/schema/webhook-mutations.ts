import { globalId } from '../../domain/ids.ts';
import { redeliverWebhookDelivery, testWebhookEndpoint } from '../../domain/webhooks/change-deliveries.ts';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookEndpointSecret,
  updateWebhookEndpoint,
  type WebhookEndpointChange,
} from '../../domain/webhooks/change-endpoints.ts';
import type { WebhookDeliveryRecord } from '../../domain/webhooks/deliveries.ts';
import type { WebhookEndpointRecord } from '../../domain/webhooks/endpoints.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  idempotencyKeyOf,
  payloadType,
} from './payloads.ts';
import { organizationIdDescription } from './places.ts';
import { WebhookDelivery } from './webhook-deliveries.ts';
import { WebhookEndpoint, WebhookEventTypeEnum } from './webhooks.ts';

const said = {
  id: 'The endpoint: its global ID, or any form of its id.',
  url: 'Where to post to: an https address of at most 2,000 characters, on a public network.',
  description: 'What to note of it: at most 500 characters.',
  eventTypes: 'What it is to hear of: at least one type.',
  isEnabled: 'Whether anything is sent to it.',
  secret: 'What its webhooks are signed with. Shown once, by the mutation that made it; null otherwise.',
} as const;

const CreateWebhookEndpointInput = builder.inputType('CreateWebhookEndpointInput', {
  description: 'What an endpoint for webhooks is made from.',
  fields: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    url: t.field({ type: 'URI', required: true, description: said.url }),
    description: t.string({ description: said.description }),
    eventTypes: t.field({ type: [WebhookEventTypeEnum], description: `${said.eventTypes} All of them when left out.` }),
    isEnabled: t.boolean({ description: `${said.isEnabled} It is when left out.` }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateWebhookEndpointInput = builder.inputType('UpdateWebhookEndpointInput', {
  description: 'How an endpoint is to change: what is left out stays.',
  fields: (t) => ({
    webhookEndpointId: t.id({ required: true, description: said.id }),
    url: t.field({ type: 'URI', description: `${said.url} Not null.` }),
    description: t.string({ description: `${said.description} Null: nothing.` }),
    eventTypes: t.field({ type: [WebhookEventTypeEnum], description: `${said.eventTypes} Not null.` }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const oneEndpoint = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      webhookEndpointId: t.id({ required: true, description: said.id }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });

const RotateWebhookEndpointSecretInput = oneEndpoint(
  'RotateWebhookEndpointSecretInput',
  'Which endpoint is to have another secret.',
);
const EnableWebhookEndpointInput = oneEndpoint(
  'EnableWebhookEndpointInput',
  'The endpoint that webhooks are sent to again.',
);
const DisableWebhookEndpointInput = oneEndpoint(
  'DisableWebhookEndpointInput',
  'The endpoint that no webhooks are sent to any longer.',
);
const DeleteWebhookEndpointInput = builder.inputType('DeleteWebhookEndpointInput', {
  description: 'The endpoint that is to be deleted.',
  fields: (t) => ({
    webhookEndpointId: t.id({ required: true, description: said.id }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});
const TestWebhookEndpointInput = oneEndpoint('TestWebhookEndpointInput', 'Which endpoint is to be tested.');

const RedeliverWebhookDeliveryInput = builder.inputType('RedeliverWebhookDeliveryInput', {
  description: 'What is to be sent again.',
  fields: (t) => ({
    webhookDeliveryId: t.id({ required: true, description: 'The delivery: its global ID, or any form of its id.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

interface Written {
  readonly webhookEndpoint: WebhookEndpointRecord;
  readonly secret: string | null;
}

const writtenType = (name: string, description: string) =>
  payloadType<Written>(name, description, (t) => ({
    webhookEndpoint: t.expose('webhookEndpoint', {
      type: WebhookEndpoint,
      nullable: true,
      description: 'The endpoint.',
    }),
    secret: t.exposeString('secret', { nullable: true, description: said.secret }),
  }));

const CreateWebhookEndpointPayload = writtenType('CreateWebhookEndpointPayload', 'An endpoint that was made.');
const RotateWebhookEndpointSecretPayload = writtenType(
  'RotateWebhookEndpointSecretPayload',
  'An endpoint that has another secret.',
);

const changedType = (name: string, description: string) =>
  payloadType<{ webhookEndpoint: WebhookEndpointRecord }>(name, description, (t) => ({
    webhookEndpoint: t.expose('webhookEndpoint', {
      type: WebhookEndpoint,
      nullable: true,
      description: 'The endpoint after the change; null beside user errors.',
    }),
  }));

const DeleteWebhookEndpointPayload = payloadType<{ deletedWebhookEndpointId: string }>(
  'DeleteWebhookEndpointPayload',
  'An endpoint that was deleted.',
  (t) => ({
    deletedWebhookEndpointId: t.expose('deletedWebhookEndpointId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of what is gone.',
    }),
  }),
);

const deliveryType = (name: string, description: string) =>
  payloadType<{ webhookDelivery: WebhookDeliveryRecord }>(name, description, (t) => ({
    webhookDelivery: t.expose('webhookDelivery', {
      type: WebhookDelivery,
      nullable: true,
      description: 'The delivery.',
    }),
  }));

const TestWebhookEndpointPayload = deliveryType('TestWebhookEndpointPayload', 'A test that is sent.');
const RedeliverWebhookDeliveryPayload = deliveryType(
  'RedeliverWebhookDeliveryPayload',
  'A delivery that is sent again.',
);

addMutation('createWebhookEndpoint', {
  input: CreateWebhookEndpointInput,
  payload: CreateWebhookEndpointPayload,
  needs: ['manageWebhooks', 'viewSession'],
  description: 'Creates an endpoint for webhooks. It receives the events that happen from now on.',
  act: async (input, context, info) => {
    const { organizationId, idempotencyKey: _key, clientMutationId: _mutation, ...wanted } = input;
    const idempotencyKey = idempotencyKeyOf(context, input, info);
    const made = await createWebhookEndpoint(context.domain, wanted, organizationId, { idempotencyKey });
    return { webhookEndpoint: made.endpoint, secret: made.secret };
  },
});

addMutation('updateWebhookEndpoint', {
  input: UpdateWebhookEndpointInput,
  payload: changedType('UpdateWebhookEndpointPayload', 'The endpoint that was changed.'),
  needs: ['manageWebhooks', 'viewSession'],
  description: 'Changes an endpoint for webhooks.',
  act: async (input, { domain }) => {
    const { webhookEndpointId, clientMutationId: _mutation, ...change } = input;
    return {
      webhookEndpoint: await updateWebhookEndpoint(domain, webhookEndpointId, change as WebhookEndpointChange),
    };
  },
});

addMutation('enableWebhookEndpoint', {
  input: EnableWebhookEndpointInput,
  payload: changedType('EnableWebhookEndpointPayload', 'The endpoint that was enabled.'),
  needs: ['manageWebhooks', 'viewSession'],
  description:
    'Enables an endpoint: webhooks are sent to it of what happens from now on, and its failures are counted from zero. Does nothing if it is enabled.',
  act: async (input, { domain }) => ({
    webhookEndpoint: await updateWebhookEndpoint(domain, input.webhookEndpointId, { isEnabled: true }),
  }),
});

addMutation('disableWebhookEndpoint', {
  input: DisableWebhookEndpointInput,
  payload: changedType('DisableWebhookEndpointPayload', 'The endpoint that was disabled.'),
  needs: ['manageWebhooks', 'viewSession'],
  description: 'Disables an endpoint: no webhooks are sent to it until it is enabled. Does nothing if it is disabled.',
  act: async (input, { domain }) => ({
    webhookEndpoint: await updateWebhookEndpoint(domain, input.webhookEndpointId, { isEnabled: false }),
  }),
});

addMutation('rotateWebhookEndpointSecret', {
  input: RotateWebhookEndpointSecretInput,
  payload: RotateWebhookEndpointSecretPayload,
  needs: ['manageWebhooks', 'viewSession'],
  description: 'Gives an endpoint another secret; for 24 hours the one before signs too.',
  act: async (input, { domain }) => {
    const { endpoint, secret } = await rotateWebhookEndpointSecret(domain, input.webhookEndpointId);
    return { webhookEndpoint: endpoint, secret };
  },
});

addMutation('deleteWebhookEndpoint', {
  input: DeleteWebhookEndpointInput,
  payload: DeleteWebhookEndpointPayload,
  needs: ['manageWebhooks'],
  description: 'Deletes an endpoint for webhooks with all that was sent to it.',
  act: async (input, { domain }) => {
    const { id } = await deleteWebhookEndpoint(domain, input.webhookEndpointId, input);
    return { deletedWebhookEndpointId: globalId('webhookEndpoint', id) };
  },
});

addMutation('testWebhookEndpoint', {
  input: TestWebhookEndpointInput,
  payload: TestWebhookEndpointPayload,
  needs: ['manageWebhooks', 'viewSession'],
  description: 'Sends an endpoint something that says nothing, once.',
  act: async (input, { domain }) => ({
    webhookDelivery: await testWebhookEndpoint(domain, input.webhookEndpointId),
  }),
});

addMutation('redeliverWebhookDelivery', {
  input: RedeliverWebhookDeliveryInput,
  payload: RedeliverWebhookDeliveryPayload,
  needs: ['manageWebhooks', 'viewSession'],
  description: 'Sends a webhook again, with the same id, as if it were new.',
  act: async (input, { domain }) => ({
    webhookDelivery: await redeliverWebhookDelivery(domain, input.webhookDeliveryId),
  }),
});
