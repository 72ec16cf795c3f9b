import { globalId } from '../../../domain/ids.ts';
import { redeliverWebhookDelivery, testWebhookEndpoint } from '../../../domain/webhooks/change-deliveries.ts';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookEndpointSecret,
  updateWebhookEndpoint,
  type WebhookEndpointChange,
} from '../../../domain/webhooks/change-endpoints.ts';
import type { WebhookDeliveryRecord } from '../../../domain/webhooks/deliveries.ts';
import type { WebhookEndpointRecord } from '../../../domain/webhooks/endpoints.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  keyedPayloadType,
  payloadType,
} from './payloads.ts';
import { organizationIdDescription } from './scope-input.ts';
import { WebhookDelivery } from './webhook-deliveries.ts';
import { WebhookEndpoint, WebhookEventTypeEnum } from './webhooks.ts';

const descriptions = {
  id: 'Global ID of the webhook endpoint, or its id such as `webhook-…`.',
  url: 'URL to which webhooks are posted: an https URL of at most 2,000 characters on a public network, without user, password or fragment.',
  description: 'Note about the endpoint. Maximum 500 characters.',
  eventTypes: 'Types of the events to send to the endpoint, at least one.',
  isEnabled: 'Whether webhooks are sent to the endpoint.',
  secret:
    'Secret with which the endpoint’s webhooks are signed. Returned only once, by the mutation that created it; null otherwise.',
} as const;

const CreateWebhookEndpointInput = builder.inputType('CreateWebhookEndpointInput', {
  description: 'Parameters for creating a webhook endpoint.',
  fields: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    url: t.field({ type: 'URI', required: true, description: descriptions.url }),
    description: t.string({ description: descriptions.description }),
    eventTypes: t.field({
      type: [WebhookEventTypeEnum],
      description: `${descriptions.eventTypes} Defaults to all types.`,
    }),
    isEnabled: t.boolean({ description: `${descriptions.isEnabled} Defaults to true.` }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateWebhookEndpointInput = builder.inputType('UpdateWebhookEndpointInput', {
  description: 'Parameters for updating a webhook endpoint. Omitted fields keep their values.',
  fields: (t) => ({
    webhookEndpointId: t.id({ required: true, description: descriptions.id }),
    url: t.field({ type: 'URI', description: `${descriptions.url} Must not be null.` }),
    description: t.string({ description: `${descriptions.description} Null removes the note.` }),
    eventTypes: t.field({ type: [WebhookEventTypeEnum], description: `${descriptions.eventTypes} Must not be null.` }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const oneEndpoint = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      webhookEndpointId: t.id({ required: true, description: descriptions.id }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });

const keyedEndpoint = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      webhookEndpointId: t.id({ required: true, description: descriptions.id }),
      idempotencyKey: t.string({ description: idempotencyKeyDescription }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });

const RotateWebhookEndpointSecretInput = keyedEndpoint(
  'RotateWebhookEndpointSecretInput',
  'Parameters for replacing the secret of a webhook endpoint.',
);
const EnableWebhookEndpointInput = oneEndpoint(
  'EnableWebhookEndpointInput',
  'Parameters for enabling a webhook endpoint.',
);
const DisableWebhookEndpointInput = oneEndpoint(
  'DisableWebhookEndpointInput',
  'Parameters for disabling a webhook endpoint.',
);
const DeleteWebhookEndpointInput = builder.inputType('DeleteWebhookEndpointInput', {
  description: 'Parameters for deleting a webhook endpoint.',
  fields: (t) => ({
    webhookEndpointId: t.id({ required: true, description: descriptions.id }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});
const TestWebhookEndpointInput = keyedEndpoint(
  'TestWebhookEndpointInput',
  'Parameters for testing a webhook endpoint.',
);

const RedeliverWebhookDeliveryInput = builder.inputType('RedeliverWebhookDeliveryInput', {
  description: 'Parameters for sending a webhook again.',
  fields: (t) => ({
    webhookDeliveryId: t.id({
      required: true,
      description: 'Global ID of the delivery, or its id such as `delivery-…`.',
    }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

interface Written {
  readonly webhookEndpoint: WebhookEndpointRecord;
  readonly secret: string | null;
}

const writtenType = (name: string, description: string) =>
  keyedPayloadType<Written>(name, description, (t) => ({
    webhookEndpoint: t.expose('webhookEndpoint', {
      type: WebhookEndpoint,
      nullable: true,
      description: 'Webhook endpoint with the new secret. Null if `userErrors` is not empty.',
    }),
    secret: t.exposeString('secret', { nullable: true, description: descriptions.secret }),
  }));

/** The payload of createWebhookEndpoint. */
export const CreateWebhookEndpointPayload = writtenType(
  'CreateWebhookEndpointPayload',
  'Result of creating a webhook endpoint.',
);
const RotateWebhookEndpointSecretPayload = writtenType(
  'RotateWebhookEndpointSecretPayload',
  'Result of replacing the secret of a webhook endpoint.',
);

const changedType = (name: string, description: string) =>
  payloadType<{ webhookEndpoint: WebhookEndpointRecord }>(name, description, (t) => ({
    webhookEndpoint: t.expose('webhookEndpoint', {
      type: WebhookEndpoint,
      nullable: true,
      description: 'Webhook endpoint after the change. Null if `userErrors` is not empty.',
    }),
  }));

const DeleteWebhookEndpointPayload = payloadType<{ deletedWebhookEndpointId: string }>(
  'DeleteWebhookEndpointPayload',
  'Result of deleting a webhook endpoint.',
  (t) => ({
    deletedWebhookEndpointId: t.expose('deletedWebhookEndpointId', {
      type: 'ID',
      nullable: true,
      description: 'Global ID of the webhook endpoint that was deleted. Null if `userErrors` is not empty.',
    }),
  }),
);

const deliveryType = (name: string, description: string) =>
  keyedPayloadType<{ webhookDelivery: WebhookDeliveryRecord }>(name, description, (t) => ({
    webhookDelivery: t.expose('webhookDelivery', {
      type: WebhookDelivery,
      nullable: true,
      description: 'Delivery that sends the webhook. Null if `userErrors` is not empty.',
    }),
  }));

const TestWebhookEndpointPayload = deliveryType('TestWebhookEndpointPayload', 'Result of testing a webhook endpoint.');
const RedeliverWebhookDeliveryPayload = deliveryType(
  'RedeliverWebhookDeliveryPayload',
  'Result of sending a webhook again.',
);

addMutation('createWebhookEndpoint', {
  input: CreateWebhookEndpointInput,
  payload: CreateWebhookEndpointPayload,
  needs: ['manageWebhooks', 'viewSession'],
  description:
    'Creates a webhook endpoint, which receives the events that happen from now on. An organization has at most 20 endpoints.',
  act: async (input, context, options) => {
    const { organizationId, idempotencyKey: _key, clientMutationId: _mutation, ...wanted } = input;
    const made = await createWebhookEndpoint(context.domain, wanted, organizationId, options);
    return { webhookEndpoint: made.endpoint, secret: made.secret };
  },
});

addMutation('updateWebhookEndpoint', {
  input: UpdateWebhookEndpointInput,
  payload: changedType('UpdateWebhookEndpointPayload', 'Result of updating a webhook endpoint.'),
  needs: ['manageWebhooks', 'viewSession'],
  description: 'Updates a webhook endpoint. Omitted fields keep their values.',
  act: async (input, { domain }) => {
    const { webhookEndpointId, clientMutationId: _mutation, ...change } = input;
    return {
      webhookEndpoint: await updateWebhookEndpoint(domain, webhookEndpointId, change as WebhookEndpointChange),
    };
  },
});

addMutation('enableWebhookEndpoint', {
  input: EnableWebhookEndpointInput,
  payload: changedType('EnableWebhookEndpointPayload', 'Result of enabling a webhook endpoint.'),
  needs: ['manageWebhooks', 'viewSession'],
  description:
    'Enables a webhook endpoint. Events that happen from now on are sent to the endpoint, and its failures are counted from zero. Does nothing if the endpoint is already enabled.',
  act: async (input, { domain }) => ({
    webhookEndpoint: await updateWebhookEndpoint(domain, input.webhookEndpointId, { isEnabled: true }),
  }),
});

addMutation('disableWebhookEndpoint', {
  input: DisableWebhookEndpointInput,
  payload: changedType('DisableWebhookEndpointPayload', 'Result of disabling a webhook endpoint.'),
  needs: ['manageWebhooks', 'viewSession'],
  description:
    'Disables a webhook endpoint. No webhooks are sent to the endpoint until it is enabled again. Does nothing if the endpoint is already disabled.',
  act: async (input, { domain }) => ({
    webhookEndpoint: await updateWebhookEndpoint(domain, input.webhookEndpointId, { isEnabled: false }),
  }),
});

addMutation('rotateWebhookEndpointSecret', {
  input: RotateWebhookEndpointSecretInput,
  payload: RotateWebhookEndpointSecretPayload,
  needs: ['manageWebhooks', 'viewSession'],
  description:
    'Replaces the secret of a webhook endpoint. For 24 hours, webhooks are also signed with the previous secret.',
  act: async (input, { domain }, options) => {
    const { endpoint, secret } = await rotateWebhookEndpointSecret(domain, input.webhookEndpointId, options);
    return { webhookEndpoint: endpoint, secret };
  },
});

addMutation('deleteWebhookEndpoint', {
  input: DeleteWebhookEndpointInput,
  payload: DeleteWebhookEndpointPayload,
  needs: ['manageWebhooks'],
  description: 'Deletes a webhook endpoint and all its deliveries.',
  act: async (input, { domain }) => {
    const { id } = await deleteWebhookEndpoint(domain, input.webhookEndpointId, input);
    return { deletedWebhookEndpointId: globalId('webhookEndpoint', id) };
  },
});

addMutation('testWebhookEndpoint', {
  input: TestWebhookEndpointInput,
  payload: TestWebhookEndpointPayload,
  needs: ['manageWebhooks', 'viewSession'],
  description:
    'Sends a test webhook without session data to an endpoint, once and without retries. INVALID_STATE if the endpoint is disabled.',
  act: async (input, { domain }, options) => ({
    webhookDelivery: await testWebhookEndpoint(domain, input.webhookEndpointId, options),
  }),
});

addMutation('redeliverWebhookDelivery', {
  input: RedeliverWebhookDeliveryInput,
  payload: RedeliverWebhookDeliveryPayload,
  needs: ['manageWebhooks', 'viewSession'],
  description:
    'Sends a webhook again at once, with an unchanged `messageId` and as many retries as a new webhook. INVALID_STATE if the endpoint is disabled.',
  act: async (input, { domain }, options) => ({
    webhookDelivery: await redeliverWebhookDelivery(domain, input.webhookDeliveryId, options),
  }),
});
