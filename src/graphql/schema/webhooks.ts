import { prefixedId } from '../../domain/ids.ts';
import { webhookDeliveriesOf } from '../../domain/webhooks/deliveries.ts';
import { type WebhookEndpointRecord, webhookEndpointsOf } from '../../domain/webhooks/endpoints.ts';
import { type WebhookEventType, webhookEventTypes } from '../../domain/webhooks/event-types.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnection } from './counted-connection.ts';
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

/** What an endpoint can hear of. */
export const WebhookEventTypeEnum = builder.enumType('WebhookEventType', {
  description: 'What an endpoint for webhooks can hear of.',
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

const WebhookEndpointConnection = countedConnection(WebhookEndpoint, 'WebhookEndpoint', {
  page: 'A page of endpoints for webhooks.',
  edge: 'An endpoint for webhooks in a list.',
});

builder.node(WebhookEndpoint, {
  description: 'Where an organization wants to hear of its sessions. What is sent is signed after Standard Webhooks.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    webhookEndpointId: t.string({
      description: 'The id with its prefix.',
      resolve: ({ id }) => prefixedId('webhookEndpoint', id),
    }),
    url: t.expose('url', { type: 'URI', description: 'Where webhooks are posted to.' }),
    description: t.exposeString('description', { nullable: true, description: 'What is noted of it.' }),
    eventTypes: t.field({
      type: [WebhookEventTypeEnum],
      description: 'What it hears of.',
      resolve: ({ eventTypes }) => [...eventTypes],
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether anything is sent to it.' }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description: 'Why the service itself disabled it; null: it did not.',
    }),
    consecutiveFailures: t.exposeInt('consecutiveFailures', {
      description: 'How many attempts have failed since it last took something.',
    }),
    failingSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the first of them failed.',
      resolve: ({ failingSinceAt }) => failingSinceAt,
    }),
    organization: t.field({
      type: Organization,
      description: 'Whose sessions it hears of.',
      resolve: async ({ organizationId }, _args, { loaders }) =>
        (await loaders.organizations.load(organizationId)) as never,
    }),
    ...authorshipFields(t),
    deliveries: t.connection(
      {
        type: WebhookDelivery,
        description:
          'What was sent to it in the last 30 days, or is to be sent, newest first unless ordered otherwise.',
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
  description: 'Narrows a list of endpoints: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    search: t.string({
      description: 'Only endpoints whose address or description contains this text, upper and lower case alike.',
    }),
    isEnabled: t.boolean({ description: 'Only endpoints that are sent to, or only others; both when left out.' }),
    isFailing: t.boolean({
      description: 'Only endpoints whose last attempts failed, or only others; both when left out.',
    }),
    eventTypes: t.field({ type: [WebhookEventTypeEnum], description: 'Only endpoints that hear of one of these.' }),
    ...createdMembers(t),
  }),
});

const WebhookEndpointOrderInput = orderInput('WebhookEndpoint', 'When the endpoint was made.');

builder.objectFields(WebhookDelivery, (t) => ({
  endpoint: t.field({
    type: WebhookEndpoint,
    description: 'Where it is sent to.',
    resolve: async ({ endpointId }, _args, { loaders }) => (await loaders.webhookEndpoints.load(endpointId)) as never,
  }),
}));

builder.objectFields(Organization, (t) => ({
  webhookEndpoints: t.connection(
    {
      type: WebhookEndpoint,
      ...boundary('manageWebhooks'),
      description: 'Where it wants to hear of its sessions, newest first unless ordered otherwise.',
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
