import { refuse } from '../../../common/errors.ts';
import {
  type AutomationRecord,
  automationsOf,
  findAutomations,
  runsOf,
} from '../../../domain/automations/model/automations.ts';
import { upcomingOccurrences } from '../../../domain/automations/schedule/upcoming-occurrences.ts';
import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import { parseId } from '../../../domain/ids.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { AuditLogEntry } from './audit-log.ts';
import { AutomationAction } from './automation-actions.ts';
import { automationDescriptions as descriptions } from './automation-descriptions.ts';
import { AutomationMissedRunsEnum, AutomationRunAsTypeEnum } from './automation-enums.ts';
import {
  AutomationFilterInput,
  AutomationOrderInput,
  AutomationRunFilterInput,
  AutomationRunOrderInput,
} from './automation-filters.ts';
import { AutomationNotifications } from './automation-notifications.ts';
import {
  AutomationConcurrency,
  AutomationLimits,
  AutomationSecurityProfile,
  AutomationSessionSettings,
  AutomationTools,
} from './automation-options.ts';
import { AutomationRunType } from './automation-runs.ts';
import { AutomationTrigger } from './automation-triggers.ts';
import { parseListFilter } from './list-inputs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { User } from './people.ts';
import { authorshipFields } from './principals.ts';
import { Session } from './sessions.ts';

export const Automation = builder.objectRef<AutomationRecord>('Automation');

const RunAs = builder.objectRef<Pick<AutomationRecord, 'runAs' | 'runAsUserId'>>('AutomationRunAs').implement({
  description: descriptions.runAs,
  fields: (t) => ({
    type: t.expose('runAs', { type: AutomationRunAsTypeEnum, description: descriptions.runAsType }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'User who owns the sessions. Null if the organization owns the sessions.',
      resolve: ({ runAsUserId }, _args, { loaders }) =>
        runAsUserId === null ? null : loaders.userAuthors.load(runAsUserId),
    }),
  }),
});

const RunList = listTypes(AutomationRunType, 'AutomationRun');

/** The types of lists of Automation. */
export const AutomationList = listTypes(Automation, 'Automation');

/** The maximum number of next occurrences in a response. */
const maxNextRuns = 20;

builder.node(Automation, {
  description:
    'A set of triggers and actions. When a trigger fires, the automation starts a session or sends a message to a session.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the automation.' },
  fields: (t) => ({
    automationId: restIdField(t, 'automation', 'REST id of the automation, which begins with `automation-`.'),
    organization: t.field({
      type: Organization,
      description: 'Organization that the automation belongs to.',
      resolve: async ({ organizationId }, _args, { loaders }) =>
        (await loaders.of(findOrganizations).load(organizationId)) as never,
    }),
    name: t.exposeString('name', { description: descriptions.name }),
    isEnabled: t.exposeBoolean('enabled', { description: descriptions.isEnabled }),
    runAs: t.field({ type: RunAs, description: descriptions.runAs, resolve: (automation) => automation }),
    triggers: t.field({
      type: [AutomationTrigger],
      description: descriptions.triggers,
      resolve: ({ id, triggers }) => triggers.map((trigger) => ({ automationId: id, trigger })),
    }),
    actions: t.field({
      type: [AutomationAction],
      description: descriptions.actions,
      resolve: ({ actions }) => [...actions],
    }),
    limits: t.field({
      type: AutomationLimits,
      nullable: true,
      description: descriptions.limits,
      resolve: ({ options }) => options.limits,
    }),
    concurrency: t.field({
      type: AutomationConcurrency,
      nullable: true,
      description: descriptions.concurrency,
      resolve: ({ options }) => options.concurrency,
    }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: descriptions.metadata,
      resolve: ({ options }) => options.metadata,
    }),
    notifications: t.field({
      type: AutomationNotifications,
      nullable: true,
      description: descriptions.notifications,
      resolve: ({ options }) => options.notifications,
    }),
    sessionSettings: t.field({
      type: AutomationSessionSettings,
      nullable: true,
      description: descriptions.sessionSettings,
      resolve: ({ options }) => options.sessionSettings,
    }),
    securityProfile: t.field({
      type: AutomationSecurityProfile,
      nullable: true,
      description: descriptions.securityProfile,
      resolve: ({ options }) => options.securityProfile,
    }),
    templateId: t.string({
      nullable: true,
      description: descriptions.templateId,
      resolve: ({ options }) => options.templateId,
    }),
    missedRuns: t.field({
      type: AutomationMissedRunsEnum,
      nullable: true,
      description: descriptions.missedRuns,
      resolve: ({ options }) => options.missedRuns,
    }),
    jitterSeconds: t.int({
      nullable: true,
      description: descriptions.jitterSeconds,
      resolve: ({ options }) => options.jitterSeconds,
    }),
    tools: t.field({
      type: AutomationTools,
      nullable: true,
      description: descriptions.tools,
      resolve: ({ options }) => options.tools,
    }),
    nextRunAt: t.expose('nextRunAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Next time of the schedule triggers. Null if the automation is disabled or has no further scheduled time.',
    }),
    nextRuns: t.field({
      type: ['DateTime'],
      description:
        'Next times of the schedule triggers, in chronological order. Empty if the automation is disabled or has no further scheduled times.',
      args: {
        count: t.arg.int({
          defaultValue: 5,
          description: 'Number of times to return, 1 to 20. Defaults to 5.',
          extensions: { limits: { min: 1, max: maxNextRuns } },
        }),
      },
      // Finding one takes about as long as reading and writing ten items.
      extensions: { items: 'count', weight: 10 },
      resolve: (automation, { count }, { domain }) => {
        const limit = count ?? 5;
        if (limit < 1 || limit > maxNextRuns) {
          throw refuse(['count'], `"count" must be from 1 to ${maxNextRuns}, but was ${limit}.`);
        }
        return upcomingOccurrences(automation, domain.now(), limit);
      },
    }),
    lastRunAt: t.expose('lastRunAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last successful run. Null if there has been none.',
    }),
    lastErrorAt: t.expose('lastErrorAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last failed run. Null if no run has failed.',
    }),
    lastErrorMessage: t.exposeString('lastErrorMessage', {
      nullable: true,
      description: 'Error message of the last failed run. Null if no run has failed.',
    }),
    consecutiveFailures: t.exposeInt('consecutiveFailures', {
      description:
        'Number of failed runs since the last success or since the automation was enabled. Runs requested by `runAutomation` do not count. After 10 failures, the automation is disabled.',
    }),
    ...authorshipFields(t),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time when the automation was deleted. A deleted automation is no longer listed but remains visible on the sessions that it started. Null if the automation is not deleted.',
    }),
  }),
});

addList(Automation, 'runs', {
  types: RunList,
  description: 'Runs of the automation, including skipped and failed ones.',
  filter: AutomationRunFilterInput,
  order: AutomationRunOrderInput,
  read: (automation, args, { domain }) => runsOf(domain, automation, parseListFilter(args.filter), args.orderBy),
});

addList(Organization, 'automations', {
  types: AutomationList,
  description: 'Automations of the organization.',
  needs: ['viewAutomations', 'changeAutomations'],
  filter: AutomationFilterInput,
  order: AutomationOrderInput,
  read: ({ id }, args, { domain }) => automationsOf(domain, id, parseListFilter(args.filter), args.orderBy),
});

builder.objectField(AutomationRunType, 'automation', (t) =>
  t.field({
    type: Automation,
    description: 'Automation that the run belongs to.',
    resolve: async ({ automationId }, _args, { loaders }) =>
      (await loaders.of(findAutomations).load(automationId)) as never,
  }),
);

builder.objectField(AuditLogEntry, 'automation', (t) =>
  t.field({
    type: Automation,
    nullable: true,
    description:
      'Automation whose run performed the action, even if it has been deleted. Null if no automation performed the action or the viewer may not see the automation.',
    resolve: ({ automationId }, _args, { loaders }) =>
      automationId === null ? null : loaders.of(findAutomations).load(automationId),
  }),
);

builder.queryField('automation', (t) =>
  t.field({
    type: Automation,
    nullable: true,
    description:
      'Looks up an automation. Null if the automation does not exist, is deleted or is not visible to the viewer.',
    args: { id: t.arg.id({ required: true, description: 'Global ID or REST id of the automation.' }) },
    resolve: async (_root, { id }, { loaders }) => {
      const automationId = parseId('automation', id);
      const automation = automationId === null ? null : await loaders.of(findAutomations).load(automationId);
      return automation?.deletedAt === null ? automation : null;
    },
  }),
);

builder.objectField(Session, 'automation', (t) =>
  t.field({
    type: Automation,
    nullable: true,
    description:
      'Automation that started the session, even if it has been deleted. Null if no automation started the session or the viewer may not see the automation.',
    resolve: ({ automationId }, _args, { loaders }) =>
      automationId === null ? null : loaders.of(findAutomations).load(automationId),
  }),
);
