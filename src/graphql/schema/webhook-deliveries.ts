import { permissionFor } from '../../auth/permissions.ts';
import { holds } from '../../auth/viewer.ts';
import { prefixedId } from '../../domain/ids.ts';
import type { WebhookAttempt, WebhookDeliveryRecord, WebhookDeliveryStatus } from '../../domain/webhooks/deliveries.ts';
import { webhookMessageId } from '../../domain/webhooks/event-payload.ts';
import { testEventType, type WebhookDeliveryType, webhookEventTypes } from '../../domain/webhooks/event-types.ts';
import { builder } from '../builder.ts';
import { countedConnection } from './counted-connection.ts';
import { createdBounds, orderInput } from './list-inputs.ts';
import { Session } from './sessions.ts';

/** Where a delivery is. */
const WebhookDeliveryStatusEnum = builder.enumType('WebhookDeliveryStatus', {
  description: 'How far the sending of a webhook has come.',
  values: {
    PENDING: { value: 'pending', description: 'It is being sent, or will be sent again.' },
    DELIVERED: { value: 'delivered', description: 'It was taken: the answer was one of 200 to 299.' },
    FAILED: { value: 'failed', description: 'It was given up.' },
  } as const satisfies Record<Uppercase<WebhookDeliveryStatus>, { value: WebhookDeliveryStatus; description: string }>,
});

const WebhookDeliveryEventTypeEnum = builder.enumType('WebhookDeliveryEventType', {
  description: 'The type of what is sent to an endpoint for webhooks.',
  values: {
    SESSION_STATUS_CHANGED: {
      value: 'session.status_changed',
      description: webhookEventTypes['session.status_changed'].meaning,
    },
    SESSION_MESSAGE: { value: 'session.message', description: webhookEventTypes['session.message'].meaning },
    TEST: { value: testEventType, description: 'A test, which a user asked for; it is about no session.' },
  } as const satisfies Record<string, { value: WebhookDeliveryType; description: string }>,
});

const Attempt = builder.objectRef<WebhookAttempt>('WebhookAttempt').implement({
  description: 'One time that a webhook was sent.',
  fields: (t) => ({
    startedAt: t.field({
      type: 'DateTime',
      description: 'When it was sent.',
      resolve: ({ startedAt }) => new Date(startedAt),
    }),
    durationMs: t.exposeInt('durationMs', { description: 'How long that took, in milliseconds.' }),
    statusCode: t.exposeInt('statusCode', { nullable: true, description: 'The answer’s status; null: none came.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it was not taken; null: it was.' }),
    answer: t.exposeString('answer', {
      description: 'The first 1,024 bytes of what was answered; empty without VIEW_ORG_SESSIONS.',
    }),
  }),
});

/** A delivery of a webhook. */
export const WebhookDelivery = builder.objectRef<WebhookDeliveryRecord>('WebhookDelivery');

/** A page of deliveries. */
export const WebhookDeliveryConnection = countedConnection(WebhookDelivery, 'WebhookDelivery', {
  page: 'A page of what was sent to an endpoint for webhooks.',
  edge: 'Something that was sent to an endpoint for webhooks, in a list.',
});

/** The input WebhookDeliveryFilter. */
export const WebhookDeliveryFilterInput = builder.inputType('WebhookDeliveryFilter', {
  description: 'Narrows a list of deliveries: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    status: t.field({ type: [WebhookDeliveryStatusEnum], description: 'Only deliveries with one of these statuses.' }),
    sessionId: t.id({ description: 'Only deliveries about this session, by its global ID or any form of its id.' }),
    ...createdBounds(t),
  }),
});

/** The input WebhookDeliveryOrder. */
export const WebhookDeliveryOrderInput = orderInput('WebhookDelivery', 'When the delivery was made.');

builder.node(WebhookDelivery, {
  description: 'Something that is sent to an endpoint for webhooks, until it is taken or given up.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    webhookDeliveryId: t.string({
      description: 'The id with its prefix.',
      resolve: ({ id }) => prefixedId('webhookDelivery', id),
    }),
    messageId: t.string({
      description: 'What the header webhook-id says: the same for every attempt, and for every endpoint.',
      resolve: (delivery) => webhookMessageId(delivery),
    }),
    eventType: t.expose('eventType', {
      type: WebhookDeliveryEventTypeEnum,
      description: 'The type of what is sent: an event of a session, or a test.',
    }),
    status: t.expose('status', { type: WebhookDeliveryStatusEnum, description: 'How far it has come.' }),
    attempts: t.field({
      type: [Attempt],
      description: 'The last 20 times that it was sent, oldest first.',
      // Receivers may answer with what they were sent.
      resolve: ({ organizationId, attempts }, _args, { domain }) =>
        holds(domain.viewer, permissionFor.viewSession, organizationId)
          ? [...attempts]
          : attempts.map((attempt) => ({ ...attempt, answer: '' })),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The session that it is about; null: it is a test, or the viewer may not see it.',
      resolve: ({ sessionId }, _args, { loaders }) => (sessionId === null ? null : loaders.sessions.load(sessionId)),
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is sent next; null: it is over.',
    }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was taken or given up; null: it is not over.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
});
