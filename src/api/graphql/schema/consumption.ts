import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { findPlaybooks } from '../../../domain/library/playbooks/playbooks.ts';
import type { PageRequest } from '../../../domain/pages.ts';
import { type Ledger, type LedgerInput, openLedger } from '../../../domain/usage/consumption/ledgers.ts';
import type { ConsumptionShare, ShareOf } from '../../../domain/usage/consumption/shares.ts';
import type { ConsumptionSums } from '../../../domain/usage/consumption/sums.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { listTypes } from './add-list.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { Playbook } from './playbooks.ts';
import { PrincipalInput, readPrincipal } from './principal-input.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { Session } from './sessions.ts';

const costDescription = 'Cost of the models in US dollars, as far as it is known.';

const ConsumptionDay = builder.objectRef<ConsumptionSums['days'][number]>('ConsumptionDay').implement({
  description: 'The number of ACUs that were consumed on a day in UTC.',
  fields: (t) => ({
    date: t.field({
      type: 'Date',
      description: 'Day in UTC, for example `2026-01-31`.',
      resolve: ({ startsAt }) => startsAt,
    }),
    acus: t.exposeFloat('acus', { description: 'Number of ACUs consumed on the day.' }),
    costUsd: t.exposeFloat('costUsd', { description: costDescription }),
  }),
});

const ConsumptionCycle = builder.objectRef<ConsumptionSums['cycles'][number]>('ConsumptionCycle').implement({
  description: 'The number of ACUs that were consumed in a cycle, which is a calendar month in UTC.',
  fields: (t) => ({
    from: t.field({
      type: 'Date',
      description: 'First day of the cycle, for example `2026-01-01`.',
      resolve: ({ startsAt }) => startsAt,
    }),
    to: t.field({
      type: 'Date',
      description: 'Last day of the cycle, for example `2026-01-31`.',
      resolve: ({ endsAt }) => new Date(endsAt.getTime() - 24 * 60 * 60 * 1_000),
    }),
    acus: t.exposeFloat('acus', {
      description: 'Number of ACUs consumed on those days of the cycle that are within the requested period.',
    }),
  }),
});

const acusDescription = 'Number of ACUs consumed in the requested period.';

const SessionConsumption = builder.objectRef<ConsumptionShare>('SessionConsumption').implement({
  description: 'The number of ACUs that a session consumed in the requested period.',
  fields: (t) => ({
    sessionId: restIdField(t, 'session', 'REST id of the session, which begins with `devin-`.'),
    title: t.exposeString('title', {
      nullable: true,
      description: 'Title of the session. Null if the session has no title.',
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'Session that consumed the ACUs. Null if the viewer may not see the session.',
      resolve: ({ id }, _args, { loaders }) => loaders.sessions.load(id),
    }),
    actor: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that started the session. Null if the viewer may not see the principal.',
      resolve: (share, _args, context) => loadPrincipal(context, share),
    }),
    acus: t.exposeFloat('acus', { description: acusDescription }),
    costUsd: t.exposeFloat('costUsd', { description: costDescription }),
  }),
});

const ActorConsumption = builder.objectRef<ConsumptionShare>('ActorConsumption').implement({
  description: 'The number of ACUs that the sessions started by a principal consumed in the requested period.',
  fields: (t) => ({
    actor: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that started the sessions. Null if the viewer may not see the principal.',
      resolve: (share, _args, context) => loadPrincipal(context, share),
    }),
    acus: t.exposeFloat('acus', { description: acusDescription }),
    costUsd: t.exposeFloat('costUsd', { description: costDescription }),
  }),
});

const OrganizationConsumption = builder.objectRef<ConsumptionShare>('OrganizationConsumption').implement({
  description: 'The number of ACUs that the sessions of an organization consumed in the requested period.',
  fields: (t) => ({
    organizationId: restIdField(t, 'organization', 'REST id of the organization, which begins with `org-`.'),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: 'Organization that consumed the ACUs. Null if the viewer may not use the organization.',
      resolve: ({ id }, _args, { loaders }) => loaders.of(findOrganizations).load(id),
    }),
    acus: t.exposeFloat('acus', { description: acusDescription }),
    costUsd: t.exposeFloat('costUsd', { description: costDescription }),
  }),
});

const PlaybookConsumption = builder.objectRef<ConsumptionShare>('PlaybookConsumption').implement({
  description: 'The number of ACUs that the sessions that follow a playbook consumed in the requested period.',
  fields: (t) => ({
    playbookId: t.string({
      nullable: true,
      description:
        'REST id of the playbook, which begins with `playbook-`. Null for the sum of all sessions that follow no playbook.',
      resolve: ({ id }) => (id === '' ? null : prefixedId('playbook', id)),
    }),
    playbook: t.field({
      type: Playbook,
      nullable: true,
      description:
        'Playbook that the sessions follow, even if it has been deleted. Null if the sessions follow no playbook or the viewer may not read the playbook.',
      resolve: ({ id }, _args, { loaders }) => (id === '' ? null : loaders.of(findPlaybooks).load(id)),
    }),
    acus: t.exposeFloat('acus', { description: acusDescription }),
    costUsd: t.exposeFloat('costUsd', { description: costDescription }),
  }),
});

const SessionConsumptionList = listTypes(SessionConsumption, 'SessionConsumption', {
  page: 'A page of ACU consumption by session.',
  edge: 'ACU consumption of a session in a page, with its cursor.',
});

const ActorConsumptionList = listTypes(ActorConsumption, 'ActorConsumption', {
  page: 'A page of ACU consumption by principal.',
  edge: 'ACU consumption of a principal in a page, with its cursor.',
});

const OrganizationConsumptionList = listTypes(OrganizationConsumption, 'OrganizationConsumption', {
  page: 'A page of ACU consumption by organization.',
  edge: 'ACU consumption of an organization in a page, with its cursor.',
});

const PlaybookConsumptionList = listTypes(PlaybookConsumption, 'PlaybookConsumption', {
  page: 'A page of ACU consumption by playbook.',
  edge: 'ACU consumption with a playbook in a page, with its cursor.',
});

async function sharesConnection({ loaders }: GraphqlContext, by: ShareOf, ledger: Ledger, page: PageRequest) {
  const shares = await loaders.consumptionShares(by, ledger, page);
  return toConnection(shares, () => loaders.consumptionShareCount(by, ledger));
}

const Consumption = builder.objectRef<Ledger>('Consumption').implement({
  description:
    'The ACUs that were consumed in a period, broken down in several ways. Each breakdown adds up to `totalAcus`.',
  fields: (t) => ({
    from: t.field({
      type: 'Date',
      description: 'First day of the period, in UTC.',
      resolve: ({ input }) => input.from,
    }),
    to: t.field({ type: 'Date', description: 'Last day of the period, in UTC.', resolve: ({ input }) => input.to }),
    totalAcus: t.float({
      description: 'Total number of ACUs consumed in the period.',
      resolve: async (ledger, _args, { loaders }) => (await loaders.consumptionSums(ledger)).totalAcus,
    }),
    totalCostUsd: t.float({
      description: costDescription,
      resolve: async (ledger, _args, { loaders }) => (await loaders.consumptionSums(ledger)).totalCostUsd,
    }),
    days: t.field({
      type: [ConsumptionDay],
      description: 'ACUs by day in UTC, in chronological order. Days without consumption are left out.',
      resolve: async (ledger, _args, { loaders }) => [...(await loaders.consumptionSums(ledger)).days],
    }),
    cycles: t.field({
      type: [ConsumptionCycle],
      description: 'ACUs by cycle, in chronological order. Cycles without consumption are left out.',
      resolve: async (ledger, _args, { loaders }) => [...(await loaders.consumptionSums(ledger)).cycles],
    }),
    sessions: t.connection(
      {
        type: SessionConsumption,
        description: 'ACUs by session, newest session first. Sessions without consumption are left out.',
        resolve: (ledger, page, context) => sharesConnection(context, 'session', ledger, page),
      },
      SessionConsumptionList.connection,
    ),
    actors: t.connection(
      {
        type: ActorConsumption,
        description:
          'ACUs by the principal that started the sessions, newest principal first. The service itself comes last.',
        resolve: (ledger, page, context) => sharesConnection(context, 'actor', ledger, page),
      },
      ActorConsumptionList.connection,
    ),
    organizations: t.connection(
      {
        type: OrganizationConsumption,
        description:
          'ACUs by organization, newest organization first. The consumption of a single organization has only this organization.',
        resolve: (ledger, page, context) => sharesConnection(context, 'organization', ledger, page),
      },
      OrganizationConsumptionList.connection,
    ),
    playbooks: t.connection(
      {
        type: PlaybookConsumption,
        description: 'ACUs by playbook, newest playbook first. The sum of sessions without a playbook comes last.',
        resolve: (ledger, page, context) => sharesConnection(context, 'playbook', ledger, page),
      },
      PlaybookConsumptionList.connection,
    ),
  }),
});

const descriptions = {
  from: 'First day of the period, in UTC, for example `2026-01-01`.',
  to: 'Last day of the period, in UTC, for example `2026-01-31`. Maximum 400 days, including the first and last day.',
  principal: 'Only sessions of this user or service user.',
  sessionId: 'Only the session with this id. Global ID or REST id.',
} as const;

type LedgerArguments = Omit<LedgerInput, 'userId' | 'serviceUserId'> & {
  readonly principal?: typeof PrincipalInput.$inferInput | null | undefined;
};

const readLedger = ({ principal, ...input }: LedgerArguments): LedgerInput => ({
  ...input,
  ...(principal && readPrincipal(principal)),
});

builder.objectField(Organization, 'consumption', (t) =>
  t.field({
    type: Consumption,
    ...boundary('viewConsumption', { items: 31 }),
    description: 'ACUs that the sessions of the organization consumed in a period.',
    args: {
      from: t.arg({ type: 'Date', required: true, description: descriptions.from }),
      to: t.arg({ type: 'Date', required: true, description: descriptions.to }),
      principal: t.arg({ type: PrincipalInput, description: descriptions.principal }),
      sessionId: t.arg.id({ description: descriptions.sessionId }),
    },
    resolve: ({ id }, input, { domain }) => openLedger(domain, id, readLedger(input)),
  }),
);

builder.objectField(Enterprise, 'consumption', (t) =>
  t.field({
    type: Consumption,
    ...boundary('viewEnterpriseConsumption', { items: 31 }),
    description: 'ACUs that the sessions of all organizations of the enterprise consumed in a period.',
    args: {
      from: t.arg({ type: 'Date', required: true, description: descriptions.from }),
      to: t.arg({ type: 'Date', required: true, description: descriptions.to }),
      organizationIds: t.arg.idList({
        description: 'Only sessions of these organizations. Global IDs or REST ids. Defaults to all organizations.',
      }),
      principal: t.arg({ type: PrincipalInput, description: descriptions.principal }),
      sessionId: t.arg.id({ description: descriptions.sessionId }),
    },
    resolve: (_enterprise, input, { domain }) => openLedger(domain, null, readLedger(input)),
  }),
);
