import { webhookEvents as texts } from '../../texts/webhooks.ts';
/** The labels of webhook events, in the order of a form. */
export const webhookEvents: Readonly<Record<string, string>> = texts.webhookEvents;
