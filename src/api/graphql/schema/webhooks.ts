import { prefixedId } from '../../../domain/ids.ts';
import { webhookDeliveriesOf } from '../../../domain/webhooks/deliveries.ts';
import { type WebhookEndpointRecord, webhookEndpointsOf } from '../../../domain/webhooks/endpoints.ts';
import { type WebhookEventType, webhookEventTypes } from '../../../domain/webhooks/event-types.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnectionAndEdge } from './counted-connection.ts';
import { createdMembers, listArgs, orderInput, parseListFilter, readId } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';
import {
  WebhookDelivery,
  WebhookDeliveryConnection,
  WebhookDeliveryFilterInput,
  WebhookDeliveryOrderInput,
} from './webhook-deliveries.ts';

/** The event types that an endpoint can subscribe to. */
export const WebhookEventTypeEnum = builder.enumType('WebhookEventType', {
  description: 'Type of an event that is sent to webhook endpoints.',
  values: {
    SESSION_STATUS_CHANGED: {
      value: 'session.status_changed',
      description: webhookEventTypes['session.status_changed'].meaning,
    },
    SESSION_MESSAGE: { value: 'session.message', description: webhookEventTypes['session.message'].meaning },
  } as const satisfies Record<string, { value: WebhookEventType; description: string }>,
});

/** An endpoint for webhooks. */
export const WebhookEndpoint = builder.objectRef<WebhookEndpointRecord>('WebhookEndpoint');

/** WebhookEndpointConnection and WebhookEndpointEdge. */
export const { connection: WebhookEndpointConnection, edge: WebhookEndpointEdge } = countedConnectionAndEdge(
  WebhookEndpoint,
  'WebhookEndpoint',
  {
    page: 'Page of a list of webhook endpoints.',
    edge: 'Webhook endpoint in a list, with its cursor.',
  },
);

builder.node(WebhookEndpoint, {
  description:
    'URL to which events of an organization’s sessions are posted, except those of unlisted sessions. Webhooks are signed according to Standard Webhooks.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the endpoint, unique across all types.' },
  fields: (t) => ({
    webhookEndpointId: t.string({
      description: 'Id of the endpoint: `webhook-` and 32 hexadecimal digits.',
      resolve: ({ id }) => prefixedId('webhookEndpoint', id),
    }),
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
        (await loaders.organizations.load(organizationId)) as never,
    }),
    ...authorshipFields(t),
    deliveries: t.connection(
      {
        type: WebhookDelivery,
        description:
          'Deliveries to the endpoint of the last 30 days, including those not sent yet. Newest first unless `orderBy` says otherwise.',
        args: listArgs(t.arg, WebhookDeliveryFilterInput, WebhookDeliveryOrderInput),
        resolve: async (endpoint, args, context) => {
          const filter = {
            ...parseListFilter(args.filter),
            status: args.filter?.status ?? undefined,
            sessionId: readId('session', args.filter?.sessionId),
          };
          return nestedConnection(context, webhookDeliveriesOf(context.domain, endpoint, filter, args.orderBy), args);
        },
      },
      WebhookDeliveryConnection,
    ),
  }),
});

const WebhookEndpointFilterInput = builder.inputType('WebhookEndpointFilter', {
  description:
    'Conditions for a list of endpoints. An item must meet every condition that is given, and match one value of each list.',
  fields: (t) => ({
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
  }),
});

const WebhookEndpointOrderInput = orderInput('WebhookEndpoint', 'Time when the endpoint was created.');

builder.objectFields(WebhookDelivery, (t) => ({
  endpoint: t.field({
    type: WebhookEndpoint,
    description: 'Endpoint to which the webhook is sent.',
    resolve: async ({ endpointId }, _args, { loaders }) => (await loaders.webhookEndpoints.load(endpointId)) as never,
  }),
}));

builder.objectFields(Organization, (t) => ({
  webhookEndpoints: t.connection(
    {
      type: WebhookEndpoint,
      ...boundary('manageWebhooks'),
      description: 'Webhook endpoints of the organization. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, WebhookEndpointFilterInput, WebhookEndpointOrderInput),
      resolve: async ({ id }, args, context) => {
        const { isEnabled, isFailing, eventTypes } = args.filter ?? {};
        const filter = {
          ...parseListFilter(args.filter),
          isEnabled: isEnabled ?? undefined,
          isFailing: isFailing ?? undefined,
          eventTypes: eventTypes ?? undefined,
        };
        return nestedConnection(context, webhookEndpointsOf(context.domain, id, filter, args.orderBy), args);
      },
    },
    WebhookEndpointConnection,
  ),
}));
