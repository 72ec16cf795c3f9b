import type { AutomationRun } from '../../../domain/automations/model/runs.ts';
import { watchRuns } from '../../../domain/automations/runs/watch-runs.ts';
import type { EntityChange } from '../../../domain/changes/watch-entities.ts';
import { type IdKind, parseId } from '../../../domain/ids.ts';
import type { WebhookDeliveryRecord } from '../../../domain/webhooks/deliveries.ts';
import { watchDeliveries } from '../../../domain/webhooks/watch-deliveries.ts';
import { builder } from '../builder.ts';
import { AutomationRunFilterInput } from './automation-filters.ts';
import { AutomationRunType } from './automation-runs.ts';
import { afterRemovalsDescription, Change, nowDescription, presentChange, startChanges } from './changes-field.ts';
import { needs } from './needs.ts';
import { restIdField } from './organization-ref.ts';
import { WebhookDelivery, WebhookDeliveryFilterInput } from './webhook-deliveries.ts';

const AutomationRunChange = builder.objectRef<EntityChange<AutomationRun>>('AutomationRunChange').implement({
  description: 'Change of a run of an automation, as reported by `automationRunChanges`.',
  interfaces: [Change],
  fields: (t) => ({
    run: t.expose('record', { type: AutomationRunType, nullable: true, description: nowDescription('Run') }),
    automationRunId: t.exposeString('id', {
      description: '`automationRunId` of the run, also if the run was REMOVED.',
    }),
  }),
});

const WebhookDeliveryChange = builder
  .objectRef<EntityChange<WebhookDeliveryRecord>>('WebhookDeliveryChange')
  .implement({
    description: 'Change of a webhook delivery, as reported by `webhookDeliveryChanges`.',
    interfaces: [Change],
    fields: (t) => ({
      webhookDelivery: t.expose('record', {
        type: WebhookDelivery,
        nullable: true,
        description: nowDescription('Delivery'),
      }),
      webhookDeliveryId: restIdField(
        t,
        'webhookDelivery',
        'REST id of the delivery: `delivery-` and 32 hexadecimal digits.',
      ),
    }),
  });

const organizationIdDescription = (permission: string) =>
  `Global ID or REST id of the organization. If omitted, all organizations where the viewer holds \`${permission}\`, including those added later.`;

const guarantees =
  'Each change is reported at least once; changes close together may arrive as one. To miss nothing, read `changesCursor` together with the list and send it as `after`. Everything else is as in `sessionChanges`.';

/** The unprefixed ids of an argument; null if it is missing. Invalid ids match nothing. */
const unprefixedIds = (kind: IdKind, ids: readonly string[] | null | undefined): string[] | null =>
  ids?.flatMap((id) => parseId(kind, id) ?? []) ?? null;

builder.subscriptionFields((t) => ({
  automationRunChanges: t.field({
    type: AutomationRunChange,
    extensions: needs(['viewAutomations', 'changeAutomations']),
    description: [
      'Reports runs of automations when they are created, change, start or stop matching the filter, or are deleted, which happens after 90 days. Use the filter `{status: [QUEUED]}` to follow the runs that wait.',
      guarantees,
    ].join('\n\n'),
    args: {
      organizationId: t.arg.id({ description: organizationIdDescription('VIEW_ORG_AUTOMATIONS') }),
      automationIds: t.arg.idList({
        description: 'Only runs of these automations. Global IDs or REST ids. Runs of all automations if omitted.',
      }),
      filter: t.arg({
        type: AutomationRunFilterInput,
        description: 'Filter for the runs that the client lists. All runs if omitted.',
      }),
      after: t.arg.string({ description: afterRemovalsDescription('automationRunChanges') }),
    },
    subscribe: (_root, { organizationId = null, automationIds, filter, after }, context) =>
      startChanges(context, 'automationRunChanges', after, (cursor) =>
        watchRuns(context.domain, context.watches, {
          organizationId,
          automationIds: unprefixedIds('automation', automationIds),
          filter: filter ?? {},
          after: cursor,
        }),
      ),
    resolve: (change, _args, context) => presentChange(change, context),
  }),
  webhookDeliveryChanges: t.field({
    type: WebhookDeliveryChange,
    extensions: needs('manageWebhooks'),
    description: [
      'Reports webhook deliveries when they are created, after each attempt, when they start or stop matching the filter, or when they are deleted, which happens after 30 days or with their endpoint.',
      guarantees,
    ].join('\n\n'),
    args: {
      organizationId: t.arg.id({ description: organizationIdDescription('MANAGE_ORG_AUTOMATIONS') }),
      webhookEndpointIds: t.arg.idList({
        description:
          'Only deliveries to these endpoints. Global IDs or REST ids. Deliveries to all endpoints if omitted.',
      }),
      filter: t.arg({
        type: WebhookDeliveryFilterInput,
        description: 'Filter for the deliveries that the client lists. All deliveries if omitted.',
      }),
      after: t.arg.string({ description: afterRemovalsDescription('webhookDeliveryChanges') }),
    },
    subscribe: (_root, { organizationId = null, webhookEndpointIds, filter, after }, context) =>
      startChanges(context, 'webhookDeliveryChanges', after, (cursor) =>
        watchDeliveries(context.domain, context.watches, {
          organizationId,
          endpointIds: unprefixedIds('webhookEndpoint', webhookEndpointIds),
          filter: {
            ...filter,
            sessionId: filter?.sessionId == null ? null : (parseId('session', filter.sessionId) ?? ''),
          },
          after: cursor,
        }),
      ),
    resolve: (change, _args, context) => presentChange(change, context),
  }),
}));
