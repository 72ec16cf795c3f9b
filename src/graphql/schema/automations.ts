import { type AutomationRecord, automationsOf, runsOf } from '../../domain/automations/automations.ts';
import { upcomingRuns } from '../../domain/automations/upcoming-runs.ts';
import { refuse } from '../../domain/errors.ts';
import { parseId, prefixedId } from '../../domain/ids.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { AutomationAction } from './automation-actions.ts';
import { automationDescriptions as said } from './automation-descriptions.ts';
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
import { countedConnection } from './counted-connection.ts';
import { listArgs, parseListFilter } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { User } from './people.ts';
import { authorshipFields } from './principals.ts';
import { Session } from './sessions.ts';

/** Automation of the contract. */
export const Automation = builder.objectRef<AutomationRecord>('Automation');

const RunAs = builder.objectRef<Pick<AutomationRecord, 'runAs' | 'runAsUserId'>>('AutomationRunAs').implement({
  description: said.runAs,
  fields: (t) => ({
    type: t.expose('runAs', { type: AutomationRunAsTypeEnum, description: said.runAsType }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user; null: the organization.',
      resolve: ({ runAsUserId }, _args, { loaders }) =>
        runAsUserId === null ? null : loaders.userAuthors.load(runAsUserId),
    }),
  }),
});

const RunConnection = countedConnection(AutomationRunType, 'AutomationRun', {
  page: 'A page of what an automation did.',
  edge: 'One time that an automation acted, in a list.',
});

const AutomationConnection = countedConnection(Automation, 'Automation', {
  page: 'A page of automations.',
  edge: 'An automation in a list.',
});

/** The most next times that are told. */
const mostNextRuns = 20;

builder.node(Automation, {
  description:
    'Something that acts by itself: starts sessions, or writes to them, when something happens or time has come.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    automationId: t.string({
      description: 'The id as REST writes it.',
      resolve: ({ id }) => prefixedId('automation', id),
    }),
    organization: t.field({
      type: Organization,
      description: 'Where it belongs.',
      resolve: async ({ organizationId }, _args, { loaders }) =>
        (await loaders.organizations.load(organizationId)) as never,
    }),
    name: t.exposeString('name', { description: said.name }),
    isEnabled: t.exposeBoolean('enabled', { description: said.isEnabled }),
    runAs: t.field({ type: RunAs, description: said.runAs, resolve: (automation) => automation }),
    triggers: t.field({
      type: [AutomationTrigger],
      description: said.triggers,
      resolve: ({ id, triggers }) => triggers.map((trigger) => ({ automationId: id, trigger })),
    }),
    actions: t.field({
      type: [AutomationAction],
      description: said.actions,
      resolve: ({ actions }) => [...actions],
    }),
    limits: t.field({
      type: AutomationLimits,
      nullable: true,
      description: said.limits,
      resolve: ({ options }) => options.limits,
    }),
    concurrency: t.field({
      type: AutomationConcurrency,
      nullable: true,
      description: said.concurrency,
      resolve: ({ options }) => options.concurrency,
    }),
    metadata: t.field({
      type: 'JSON',
      nullable: true,
      description: said.metadata,
      resolve: ({ options }) => options.metadata,
    }),
    notifications: t.field({
      type: AutomationNotifications,
      nullable: true,
      description: said.notifications,
      resolve: ({ options }) => options.notifications,
    }),
    sessionSettings: t.field({
      type: AutomationSessionSettings,
      nullable: true,
      description: said.sessionSettings,
      resolve: ({ options }) => options.sessionSettings,
    }),
    securityProfile: t.field({
      type: AutomationSecurityProfile,
      nullable: true,
      description: said.securityProfile,
      resolve: ({ options }) => options.securityProfile,
    }),
    templateId: t.string({
      nullable: true,
      description: said.templateId,
      resolve: ({ options }) => options.templateId,
    }),
    missedRuns: t.field({
      type: AutomationMissedRunsEnum,
      nullable: true,
      description: said.missedRuns,
      resolve: ({ options }) => options.missedRuns,
    }),
    jitterSeconds: t.int({
      nullable: true,
      description: said.jitterSeconds,
      resolve: ({ options }) => options.jitterSeconds,
    }),
    tools: t.field({
      type: AutomationTools,
      nullable: true,
      description: said.tools,
      resolve: ({ options }) => options.tools,
    }),
    nextRunAt: t.expose('nextRunAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The next time of its recurring triggers; null while it is disabled, or where there is none.',
    }),
    nextRuns: t.field({
      type: ['DateTime'],
      description: 'The next times of its recurring triggers; none while it is disabled.',
      args: { count: t.arg.int({ defaultValue: 5, description: 'How many: 1 to 20.' }) },
      // Each takes about as long to find as it takes to read and write ten items.
      extensions: { items: 'count', weight: 10 },
      resolve: (automation, { count }, { domain }) => {
        const most = count ?? 5;
        if (most < 1 || most > mostNextRuns) {
          throw refuse(['count'], `"count" must be from 1 to ${mostNextRuns}, but was ${most}.`);
        }
        return upcomingRuns(automation, domain.now(), most);
      },
    }),
    lastRunAt: t.expose('lastRunAt', { type: 'DateTime', nullable: true, description: 'When it acted last.' }),
    lastErrorAt: t.expose('lastErrorAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last failed to act.',
    }),
    lastErrorMessage: t.exposeString('lastErrorMessage', { nullable: true, description: 'Why it failed then.' }),
    consecutiveFailures: t.exposeInt('consecutiveFailures', {
      description: 'How often it has failed since it last acted.',
    }),
    ...authorshipFields(t),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is only told of by the sessions that it started; null: it is there.',
    }),
    runs: t.connection(
      {
        type: AutomationRunType,
        description: 'What it has done, and should have done, the last first unless ordered otherwise.',
        args: listArgs(t.arg, AutomationRunFilterInput, AutomationRunOrderInput),
        resolve: async (automation, args, context) => {
          const filter = { ...parseListFilter(args.filter), status: args.filter?.status ?? undefined };
          return nestedConnection(context, runsOf(context.domain, automation, filter, args.orderBy), args);
        },
      },
      RunConnection,
    ),
  }),
});

builder.objectField(Organization, 'automations', (t) =>
  t.connection(
    {
      type: Automation,
      ...boundary(['viewAutomations', 'changeAutomations']),
      description: 'Its automations, newest first unless ordered otherwise.',
      args: listArgs(t.arg, AutomationFilterInput, AutomationOrderInput),
      resolve: async ({ id }, args, context) => {
        const { isEnabled, isFailing } = args.filter ?? {};
        const filter = {
          ...parseListFilter(args.filter),
          isEnabled: isEnabled ?? undefined,
          isFailing: isFailing ?? undefined,
        };
        return nestedConnection(context, automationsOf(context.domain, id, filter, args.orderBy), args);
      },
    },
    AutomationConnection,
  ),
);

builder.objectField(AutomationRunType, 'automation', (t) =>
  t.field({
    type: Automation,
    description: 'The automation that acted.',
    resolve: async ({ automationId }, _args, { loaders }) => (await loaders.automations.load(automationId)) as never,
  }),
);

builder.queryField('automation', (t) =>
  t.field({
    type: Automation,
    nullable: true,
    description: 'An automation; null when there is none that the viewer may see.',
    args: { id: t.arg.id({ required: true, description: 'Its global ID, or any form of its id.' }) },
    resolve: async (_root, { id }, { loaders }) => {
      const bare = parseId('automation', id);
      const automation = bare === null ? null : await loaders.automations.load(bare);
      return automation?.deletedAt === null ? automation : null;
    },
  }),
);

builder.objectField(Session, 'automation', (t) =>
  t.field({
    type: Automation,
    nullable: true,
    description: 'The automation that started it, also one deleted since; null: none, or none that the viewer may see.',
    resolve: ({ automationId }, _args, { loaders }) =>
      automationId === null ? null : loaders.automations.load(automationId),
  }),
);
