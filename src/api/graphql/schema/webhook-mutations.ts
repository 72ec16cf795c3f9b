import { globalId } from '../../../domain/ids.ts';
import { redeliverWebhookDelivery, testWebhookEndpoint } from '../../../domain/webhooks/change-deliveries.ts';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookEndpointSecret,
  updateWebhookEndpoint,
  type WebhookEndpointChange,
} from '../../../domain/webhooks/change-endpoints.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
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

const oneEndpoint = (t: InputFields) => ({
  webhookEndpointId: t.id({ required: true, description: descriptions.id }),
});

const withSecret = {
  webhookEndpoint: WebhookEndpoint,
  secret: { type: 'String', description: descriptions.secret },
} as const;

const delivery = {
  webhookDelivery: {
    type: WebhookDelivery,
    description: 'Delivery that sends the webhook. Null if there are user errors.',
  },
};

/** The payload of createWebhookEndpoint. */
export const CreateWebhookEndpointPayload = addMutation('createWebhookEndpoint', {
  description:
    'Creates a webhook endpoint, which receives the events that happen from now on. An organization has at most 20 endpoints.',
  needs: ['manageWebhooks', 'viewSession'],
  input: (t) => ({
    organizationId: t.id({ description: organizationIdDescription }),
    url: t.field({ type: 'URI', required: true, description: descriptions.url }),
    description: t.string({ description: descriptions.description }),
    eventTypes: t.field({
      type: [WebhookEventTypeEnum],
      description: `${descriptions.eventTypes} Defaults to all types.`,
    }),
    isEnabled: t.boolean({ description: `${descriptions.isEnabled} Defaults to true.` }),
  }),
  takes: 'idempotencyKey',
  payload: withSecret,
  act: async ({ organizationId, ...wanted }, { domain }, options) => {
    const { endpoint, secret } = await createWebhookEndpoint(domain, wanted, organizationId, options);
    return { webhookEndpoint: endpoint, secret };
  },
});

addMutation('updateWebhookEndpoint', {
  description: 'Updates a webhook endpoint. Omitted fields keep their values.',
  needs: ['manageWebhooks', 'viewSession'],
  input: (t) => ({
    ...oneEndpoint(t),
    url: t.field({ type: 'URI', description: `${descriptions.url} Must not be null.` }),
    description: t.string({ description: `${descriptions.description} Null removes the note.` }),
    eventTypes: t.field({ type: [WebhookEventTypeEnum], description: `${descriptions.eventTypes} Must not be null.` }),
  }),
  takes: 'expectedVersion',
  payload: { webhookEndpoint: WebhookEndpoint },
  act: async ({ webhookEndpointId, ...change }, { domain }) => ({
    webhookEndpoint: await updateWebhookEndpoint(domain, webhookEndpointId, change as WebhookEndpointChange),
  }),
});

addMutation('enableWebhookEndpoint', {
  description:
    'Enables a webhook endpoint. Events that happen from now on are sent to the endpoint, and its failures are counted from zero. Does nothing if the endpoint is already enabled.',
  needs: ['manageWebhooks', 'viewSession'],
  input: oneEndpoint,
  payload: { webhookEndpoint: WebhookEndpoint },
  act: async (input, { domain }) => ({
    webhookEndpoint: await updateWebhookEndpoint(domain, input.webhookEndpointId, { isEnabled: true }),
  }),
});

addMutation('disableWebhookEndpoint', {
  description:
    'Disables a webhook endpoint. No webhooks are sent to the endpoint until it is enabled again. Does nothing if the endpoint is already disabled.',
  needs: ['manageWebhooks', 'viewSession'],
  input: oneEndpoint,
  payload: { webhookEndpoint: WebhookEndpoint },
  act: async (input, { domain }) => ({
    webhookEndpoint: await updateWebhookEndpoint(domain, input.webhookEndpointId, { isEnabled: false }),
  }),
});

addMutation('rotateWebhookEndpointSecret', {
  description:
    'Replaces the secret of a webhook endpoint. For 24 hours, webhooks are also signed with the previous secret.',
  needs: ['manageWebhooks', 'viewSession'],
  input: oneEndpoint,
  takes: 'idempotencyKey',
  payload: withSecret,
  act: async (input, { domain }, options) => {
    const { endpoint, secret } = await rotateWebhookEndpointSecret(domain, input.webhookEndpointId, options);
    return { webhookEndpoint: endpoint, secret };
  },
});

addMutation('deleteWebhookEndpoint', {
  description: 'Deletes a webhook endpoint and all its deliveries.',
  needs: ['manageWebhooks'],
  input: oneEndpoint,
  takes: 'expectedVersion',
  payload: { deletedWebhookEndpointId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deleteWebhookEndpoint(domain, input.webhookEndpointId, input);
    return { deletedWebhookEndpointId: globalId('webhookEndpoint', id) };
  },
});

addMutation('testWebhookEndpoint', {
  description:
    'Sends a test webhook without session data to an endpoint, once and without retries. INVALID_STATE if the endpoint is disabled.',
  needs: ['manageWebhooks', 'viewSession'],
  input: oneEndpoint,
  takes: 'idempotencyKey',
  payload: delivery,
  act: async (input, { domain }, options) => ({
    webhookDelivery: await testWebhookEndpoint(domain, input.webhookEndpointId, options),
  }),
});

addMutation('redeliverWebhookDelivery', {
  description:
    'Sends a webhook again at once, with an unchanged `messageId` and as many retries as a new webhook. INVALID_STATE if the endpoint is disabled.',
  needs: ['manageWebhooks', 'viewSession'],
  input: (t) => ({
    webhookDeliveryId: t.id({
      required: true,
      description: 'Global ID of the delivery, or its id such as `delivery-…`.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: delivery,
  act: async (input, { domain }, options) => ({
    webhookDelivery: await redeliverWebhookDelivery(domain, input.webhookDeliveryId, options),
  }),
});
