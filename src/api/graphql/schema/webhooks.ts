import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import { webhookDeliveriesOf } from '../../../domain/webhooks/deliveries.ts';
import {
  findWebhookEndpoints,
  type WebhookEndpointRecord,
  webhookEndpointsOf,
} from '../../../domain/webhooks/endpoints.ts';
import { type WebhookEventType, webhookEventTypes } from '../../../domain/webhooks/event-types.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { defineEnum } from './define-enum.ts';
import { createdMembers, filterInput, orderInput, parseListFilter, readId } from './list-inputs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';
import {
  WebhookDelivery,
  WebhookDeliveryFilterInput,
  WebhookDeliveryList,
  WebhookDeliveryOrderInput,
} from './webhook-deliveries.ts';

/** The event types that an endpoint can subscribe to. */
export const WebhookEventTypeEnum = defineEnum<WebhookEventType>(
  'WebhookEventType',
  'Type of an event that is sent to webhook endpoints.',
  {
    'session.status_changed': webhookEventTypes['session.status_changed'].meaning,
    'session.message': webhookEventTypes['session.message'].meaning,
    'session.pull_request_opened': webhookEventTypes['session.pull_request_opened'].meaning,
    'session.pull_request_merged': webhookEventTypes['session.pull_request_merged'].meaning,
    'session.pull_request_closed': webhookEventTypes['session.pull_request_closed'].meaning,
    'session.follow_up_sent': webhookEventTypes['session.follow_up_sent'].meaning,
    'session.follow_ups_stopped': webhookEventTypes['session.follow_ups_stopped'].meaning,
  },
);

/** An endpoint for webhooks. */
export const WebhookEndpoint = builder.objectRef<WebhookEndpointRecord>('WebhookEndpoint');

/** The types of lists of WebhookEndpoint. */
export const WebhookEndpointList = listTypes(WebhookEndpoint, 'WebhookEndpoint');

builder.node(WebhookEndpoint, {
  description:
    'URL to which events of an organization’s sessions are posted, except those of unlisted sessions. Webhooks are signed according to Standard Webhooks.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the endpoint, unique across all types.' },
  fields: (t) => ({
    webhookEndpointId: restIdField(t, 'webhookEndpoint', 'Id of the endpoint: `webhook-` and 32 hexadecimal digits.'),
    url: t.expose('url', { type: 'URI', description: 'URL to which webhooks are posted.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Note about the endpoint; null if there is none.',
    }),
    eventTypes: t.field({
      type: [WebhookEventTypeEnum],
      description: 'Types of the events that are sent to the endpoint.',
      resolve: ({ eventTypes }) => [...eventTypes],
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether webhooks are sent to the endpoint.' }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description: 'Reason why the service itself disabled the endpoint, as a sentence; null if it did not.',
    }),
    consecutiveFailures: t.exposeInt('consecutiveFailures', {
      description: 'Number of attempts that failed since the endpoint last accepted a webhook. Tests do not count.',
    }),
    failingSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the first of the `consecutiveFailures` occurred; null if there are none.',
      resolve: ({ failingSinceAt }) => failingSinceAt,
    }),
    organization: t.field({
      type: Organization,
      description: 'Organization that the endpoint belongs to and receives session events of.',
      resolve: async ({ organizationId }, _args, { loaders }) =>
        (await loaders.of(findOrganizations).load(organizationId)) as never,
    }),
    ...authorshipFields(t),
  }),
});

const WebhookEndpointFilterInput = filterInput('WebhookEndpoint', (t) => ({
  search: t.string({
    description: 'Only endpoints whose address or description contains this text, regardless of case.',
  }),
  isEnabled: t.boolean({ description: 'If true, only enabled endpoints. If false, only disabled ones.' }),
  isFailing: t.boolean({
    description: 'If true, only endpoints whose last delivery attempts failed. If false, only the others.',
  }),
  eventTypes: t.field({
    type: [WebhookEventTypeEnum],
    description: 'Only endpoints that receive at least one of these event types.',
  }),
  ...createdMembers(t),
}));

const WebhookEndpointOrderInput = orderInput('WebhookEndpoint', 'Time when the endpoint was created.');

builder.objectFields(WebhookDelivery, (t) => ({
  endpoint: t.field({
    type: WebhookEndpoint,
    description: 'Endpoint to which the webhook is sent.',
    resolve: async ({ endpointId }, _args, { loaders }) =>
      (await loaders.of(findWebhookEndpoints).load(endpointId)) as never,
  }),
}));

addList(WebhookEndpoint, 'deliveries', {
  types: WebhookDeliveryList,
  description: 'Deliveries to the endpoint of the last 30 days, including those not sent yet.',
  filter: WebhookDeliveryFilterInput,
  order: WebhookDeliveryOrderInput,
  read: (endpoint, args, { domain }) => {
    const filter = {
      ...parseListFilter(args.filter),
      sessionId: readId('session', args.filter?.sessionId),
    };
    return webhookDeliveriesOf(domain, endpoint, filter, args.orderBy);
  },
});

addList(Organization, 'webhookEndpoints', {
  types: WebhookEndpointList,
  description: 'Webhook endpoints of the organization.',
  needs: 'manageWebhooks',
  filter: WebhookEndpointFilterInput,
  order: WebhookEndpointOrderInput,
  read: ({ id }, args, { domain }) => webhookEndpointsOf(domain, id, parseListFilter(args.filter), args.orderBy),
});
