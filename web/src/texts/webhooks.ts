import { writeNumber } from '../ui/number.ts';
import { type Numbers, rich, type Strings } from './kit.ts';

export const deliveries = {
  delivered: 'Delivered',
  pending: 'Pending',
  sent: {
    SESSION_MESSAGE: 'Message',
    SESSION_STATUS_CHANGED: 'Status change',
    SESSION_PULL_REQUEST_OPENED: 'Pull request opened',
    SESSION_PULL_REQUEST_MERGED: 'Pull request merged',
    SESSION_PULL_REQUEST_CLOSED: 'Pull request closed',
    SESSION_FOLLOW_UP_SENT: 'Follow-up sent',
    SESSION_FOLLOW_UPS_STOPPED: 'Follow-ups stopped',
    TEST: 'Test',
  },
  event: 'Event',
  nextAttempt: rich('Next attempt {time}'),
  attempts: 'Attempts',
  redeliver: 'Redeliver',
  redeliverEvent: ({ event }: Strings<'event'>) => `Redeliver ${event}`,
  redeliveryQueued: 'Redelivery queued.',
  deliveries: 'Deliveries',
  emptyTitle: 'No deliveries',
  emptyText: 'Events that this webhook receives appear here.',
  noResponse: 'no response',
  attempt: rich('{time}, {duration}: {result}'),
  milliseconds: ({ count }: Numbers<'count'>) => `${writeNumber(count)} ms`,
};

export const webhookEvents = {
  webhookEvents: {
    SESSION_STATUS_CHANGED: 'Session status changes',
    SESSION_MESSAGE: 'Session messages',
    SESSION_PULL_REQUEST_OPENED: 'Pull request opened',
    SESSION_PULL_REQUEST_MERGED: 'Pull request merged',
    SESSION_PULL_REQUEST_CLOSED: 'Pull request closed',
    SESSION_FOLLOW_UP_SENT: 'Follow-up sent',
    SESSION_FOLLOW_UPS_STOPPED: 'Follow-ups stopped',
  },
};

export const webhookForm = {
  webhookSaved: 'Webhook saved.',
  editWebhook: 'Edit webhook',
  newWebhook: 'New webhook',
  create: 'Create webhook',
  urlExample: 'https://example.com/hook',
};

export const webhookPage = {
  webhookNotFound: 'Webhook not found',
  anyStatus: 'Any status',
  delivered: 'Delivered',
  pending: 'Pending',
  testEventQueued: 'Test event queued.',
  webhookDisabled: 'Webhook disabled.',
  webhookEnabled: 'Webhook enabled.',
  webhook: 'Webhook',
  rotateSecret: 'Rotate secret',
  sendTestEvent: 'Send test event',
  since: rich('since {time}'),
  deliveries: 'Deliveries',
  allWebhooks: 'All webhooks',
  rotateTitle: 'Rotate the webhook secret?',
  rotateText:
    'Deliveries are signed with the new secret immediately. For 24 hours, they’re also signed with the current one.',
  webhookSecret: 'Webhook secret',
};

export const webhooksPage = {
  newWebhook: 'New webhook',
  noWebhooksYet: 'No webhooks yet',
  emptyText: 'Webhooks send session messages and status changes to a URL. Create one to notify another service.',
  webhookSecret: 'Webhook secret',
  deleteTitle: 'Delete this webhook?',
  deleteText: ({ url }: Strings<'url'>) => `${url} no longer receives events. Its deliveries are deleted.`,
  webhookDeleted: 'Webhook deleted.',
  failing: 'Failing',
};
