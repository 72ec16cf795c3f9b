import { permissionFor } from '../../../auth/permissions.ts';
import { hasPermission } from '../../../auth/viewer.ts';
import type {
  WebhookAttempt,
  WebhookDeliveryRecord,
  WebhookDeliveryStatus,
} from '../../../domain/webhooks/deliveries.ts';
import { webhookMessageId } from '../../../domain/webhooks/event-payload.ts';
import { testEventType, type WebhookDeliveryType, webhookEventTypes } from '../../../domain/webhooks/event-types.ts';
import { builder } from '../builder.ts';
import { listTypes } from './add-list.ts';
import { defineEnum } from './define-enum.ts';
import { createdBounds, filterInput, orderInput } from './list-inputs.ts';
import { restIdField } from './organization-ref.ts';
import { Session } from './sessions.ts';

/** The status of a delivery. */
const WebhookDeliveryStatusEnum = defineEnum<WebhookDeliveryStatus>(
  'WebhookDeliveryStatus',
  'Status of the delivery of a webhook to an endpoint.',
  {
    pending: 'The webhook is being sent, or will be sent or retried.',
    delivered: 'The endpoint accepted the webhook: the HTTP status of its response was from 200 to 299.',
    failed: 'The webhook could not be delivered and is not sent again by itself.',
  },
);

const WebhookDeliveryEventTypeEnum = builder.enumType('WebhookDeliveryEventType', {
  description: 'Type of a webhook that is sent to an endpoint: an event of a session, or a test.',
  values: {
    SESSION_STATUS_CHANGED: {
      value: 'session.status_changed',
      description: webhookEventTypes['session.status_changed'].meaning,
    },
    SESSION_MESSAGE: { value: 'session.message', description: webhookEventTypes['session.message'].meaning },
    SESSION_PULL_REQUEST_OPENED: {
      value: 'session.pull_request_opened',
      description: webhookEventTypes['session.pull_request_opened'].meaning,
    },
    SESSION_PULL_REQUEST_MERGED: {
      value: 'session.pull_request_merged',
      description: webhookEventTypes['session.pull_request_merged'].meaning,
    },
    SESSION_PULL_REQUEST_CLOSED: {
      value: 'session.pull_request_closed',
      description: webhookEventTypes['session.pull_request_closed'].meaning,
    },
    SESSION_FOLLOW_UP_SENT: {
      value: 'session.follow_up_sent',
      description: webhookEventTypes['session.follow_up_sent'].meaning,
    },
    SESSION_FOLLOW_UPS_STOPPED: {
      value: 'session.follow_ups_stopped',
      description: webhookEventTypes['session.follow_ups_stopped'].meaning,
    },
    TEST: { value: testEventType, description: 'A test that `testWebhookEndpoint` sends. It is not about a session.' },
  } as const satisfies Record<string, { value: WebhookDeliveryType; description: string }>,
});

const Attempt = builder.objectRef<WebhookAttempt>('WebhookAttempt').implement({
  description: 'Single attempt to send a webhook.',
  fields: (t) => ({
    startedAt: t.field({
      type: 'DateTime',
      description: 'Time when the attempt was started.',
      resolve: ({ startedAt }) => new Date(startedAt),
    }),
    durationMs: t.exposeInt('durationMs', { description: 'Duration of the attempt in milliseconds.' }),
    statusCode: t.exposeInt('statusCode', {
      nullable: true,
      description: 'HTTP status of the response; null if there was no response.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Reason why the attempt failed, as a sentence; null if it succeeded.',
    }),
    answer: t.exposeString('answer', {
      description: 'First 1,024 bytes of the response body. Empty if the viewer does not hold `VIEW_ORG_SESSIONS`.',
    }),
  }),
});

/** A delivery of a webhook. */
export const WebhookDelivery = builder.objectRef<WebhookDeliveryRecord>('WebhookDelivery');

/** The types of lists of WebhookDelivery. */
export const WebhookDeliveryList = listTypes(WebhookDelivery, 'WebhookDelivery');

/** The input WebhookDeliveryFilter. */
export const WebhookDeliveryFilterInput = filterInput('WebhookDelivery', (t) => ({
  status: t.field({ type: [WebhookDeliveryStatusEnum], description: 'Only deliveries with one of these statuses.' }),
  sessionId: t.id({ description: 'Only deliveries about this session. Global ID or REST id.' }),
  ...createdBounds(t),
}));

/** The input WebhookDeliveryOrder. */
export const WebhookDeliveryOrderInput = orderInput('WebhookDelivery', 'Time when the delivery was created.');

builder.node(WebhookDelivery, {
  description:
    'Webhook that is sent to an endpoint, with retries, until the endpoint accepts it or the delivery fails.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the delivery, unique across all types.' },
  fields: (t) => ({
    webhookDeliveryId: restIdField(t, 'webhookDelivery', 'Id of the delivery: `delivery-` and 32 hexadecimal digits.'),
    messageId: t.string({
      description: 'Value of the header `webhook-id`, which is equal for all attempts and all endpoints.',
      resolve: (delivery) => webhookMessageId(delivery),
    }),
    eventType: t.expose('eventType', {
      type: WebhookDeliveryEventTypeEnum,
      description: 'Type of the webhook: an event of a session, or a test.',
    }),
    status: t.expose('status', {
      type: WebhookDeliveryStatusEnum,
      description: 'Status of the delivery: pending, delivered or failed.',
    }),
    attempts: t.field({
      type: [Attempt],
      description: 'Last 20 attempts to send the webhook, oldest first.',
      // Receivers may send back what they received, including secrets.
      resolve: ({ organizationId, attempts }, _args, { domain }) =>
        hasPermission(domain.viewer, permissionFor.viewSession, organizationId)
          ? [...attempts]
          : attempts.map((attempt) => ({ ...attempt, answer: '' })),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description:
        'Session that the webhook is about; null if the webhook is a test or the viewer may not see the session.',
      resolve: ({ sessionId }, _args, { loaders }) => (sessionId === null ? null : loaders.sessions.load(sessionId)),
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the next attempt; null if the webhook was delivered or has failed.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the webhook was delivered or failed; null while it is pending.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the delivery was created.' }),
  }),
});
