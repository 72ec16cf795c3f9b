import { type Ledger, openLedger } from '../../domain/consumption/ledgers.ts';
import type { ConsumptionShare, ShareOf } from '../../domain/consumption/shares.ts';
import type { ConsumptionSums } from '../../domain/consumption/sums.ts';
import { prefixedId } from '../../domain/ids.ts';
import type { PageRequest } from '../../domain/pages.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { Playbook } from './playbooks.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { Session } from './sessions.ts';

const ConsumptionDay = builder.objectRef<ConsumptionSums['days'][number]>('ConsumptionDay').implement({
  description: 'What was consumed on a day.',
  fields: (t) => ({
    date: t.field({ type: 'Date', description: 'The day, of UTC.', resolve: ({ startsAt }) => startsAt }),
    acus: t.exposeFloat('acus', { description: 'How many ACUs.' }),
  }),
});

const ConsumptionCycle = builder.objectRef<ConsumptionSums['cycles'][number]>('ConsumptionCycle').implement({
  description: 'What was consumed in a cycle: a calendar month of UTC.',
  fields: (t) => ({
    from: t.field({ type: 'Date', description: 'Its first day.', resolve: ({ startsAt }) => startsAt }),
    to: t.field({
      type: 'Date',
      description: 'Its last day.',
      resolve: ({ endsAt }) => new Date(endsAt.getTime() - 24 * 60 * 60 * 1_000),
    }),
    acus: t.exposeFloat('acus', { description: 'How many ACUs, on those of its days that were asked for.' }),
  }),
});

const acusDescription = 'How many ACUs.';

const SessionConsumption = builder.objectRef<ConsumptionShare>('SessionConsumption').implement({
  description: 'What a session has consumed.',
  fields: (t) => ({
    sessionId: t.string({
      description: 'The session, as v1 writes its id.',
      resolve: ({ id }) => prefixedId('session', id),
    }),
    title: t.exposeString('title', { nullable: true, description: 'What it is about.' }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The session; null for who may not see it.',
      resolve: ({ id }, _args, { loaders }) => loaders.sessions.load(id),
    }),
    actor: t.field({
      type: Principal,
      nullable: true,
      description: 'The principal that started it; null: the viewer may not see that principal.',
      resolve: (share, _args, context) => loadPrincipal(context, share),
    }),
    acus: t.exposeFloat('acus', { description: acusDescription }),
  }),
});

const ActorConsumption = builder.objectRef<ConsumptionShare>('ActorConsumption').implement({
  description: 'What the sessions that somebody started have consumed.',
  fields: (t) => ({
    actor: t.field({
      type: Principal,
      nullable: true,
      description: 'The principal that started them; null: the viewer may not see that principal.',
      resolve: (share, _args, context) => loadPrincipal(context, share),
    }),
    acus: t.exposeFloat('acus', { description: acusDescription }),
  }),
});

const OrganizationConsumption = builder.objectRef<ConsumptionShare>('OrganizationConsumption').implement({
  description: 'What an organization has consumed.',
  fields: (t) => ({
    organizationId: t.string({
      description: 'The organization, as REST writes its id.',
      resolve: ({ id }) => prefixedId('organization', id),
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: 'The organization; null for who may not use it.',
      resolve: ({ id }, _args, { loaders }) => loaders.organizations.load(id),
    }),
    acus: t.exposeFloat('acus', { description: acusDescription }),
  }),
});

const PlaybookConsumption = builder.objectRef<ConsumptionShare>('PlaybookConsumption').implement({
  description: 'What the sessions that follow a playbook have consumed.',
  fields: (t) => ({
    playbookId: t.string({
      nullable: true,
      description: 'The playbook, as REST writes its id; null: the sessions that follow none, together.',
      resolve: ({ id }) => (id === '' ? null : prefixedId('playbook', id)),
    }),
    playbook: t.field({
      type: Playbook,
      nullable: true,
      description: 'The playbook, also one deleted since; null also for one that the viewer may not read.',
      resolve: ({ id }, _args, { loaders }) => (id === '' ? null : loaders.playbooks.load(id)),
    }),
    acus: t.exposeFloat('acus', { description: acusDescription }),
  }),
});

const SessionConsumptionConnection = countedConnection(SessionConsumption, 'SessionConsumption', {
  page: 'A page of what sessions have consumed.',
  edge: 'What a session has consumed, in a list.',
});

const ActorConsumptionConnection = countedConnection(ActorConsumption, 'ActorConsumption', {
  page: 'A page of who has consumed what.',
  edge: 'What somebody has consumed, in a list.',
});

const OrganizationConsumptionConnection = countedConnection(OrganizationConsumption, 'OrganizationConsumption', {
  page: 'A page of what organizations have consumed.',
  edge: 'What an organization has consumed, in a list.',
});

const PlaybookConsumptionConnection = countedConnection(PlaybookConsumption, 'PlaybookConsumption', {
  page: 'A page of what was consumed with playbooks.',
  edge: 'What was consumed with a playbook, in a list.',
});

async function sharesConnection({ loaders }: GraphqlContext, by: ShareOf, ledger: Ledger, page: PageRequest) {
  const shares = await loaders.consumptionShares(by, ledger, page);
  return toConnection(shares, () => loaders.consumptionShareCount(by, ledger));
}

const Consumption = builder.objectRef<Ledger>('Consumption').implement({
  description: 'The ACUs that were consumed on some days, added up in several ways. Each of them has the same sum.',
  fields: (t) => ({
    from: t.field({ type: 'Date', description: 'The first of the days.', resolve: ({ input }) => input.from }),
    to: t.field({ type: 'Date', description: 'The last of the days.', resolve: ({ input }) => input.to }),
    totalAcus: t.float({
      description: 'All ACUs.',
      resolve: async (ledger, _args, { loaders }) => (await loaders.consumptionSums(ledger)).totalAcus,
    }),
    days: t.field({
      type: [ConsumptionDay],
      description: 'By day of UTC, in order; days without any are left out.',
      resolve: async (ledger, _args, { loaders }) => [...(await loaders.consumptionSums(ledger)).days],
    }),
    cycles: t.field({
      type: [ConsumptionCycle],
      description: 'By cycle, in order; cycles without any are left out.',
      resolve: async (ledger, _args, { loaders }) => [...(await loaders.consumptionSums(ledger)).cycles],
    }),
    sessions: t.connection(
      {
        type: SessionConsumption,
        description: 'By session, the newest session first.',
        resolve: (ledger, page, context) => sharesConnection(context, 'session', ledger, page),
      },
      SessionConsumptionConnection,
    ),
    actors: t.connection(
      {
        type: ActorConsumption,
        description: 'By who started the sessions, the newest user or service user first; service keys come last.',
        resolve: (ledger, page, context) => sharesConnection(context, 'actor', ledger, page),
      },
      ActorConsumptionConnection,
    ),
    organizations: t.connection(
      {
        type: OrganizationConsumption,
        description: 'By organization, the newest one first. Of an organization’s own consumption: itself.',
        resolve: (ledger, page, context) => sharesConnection(context, 'organization', ledger, page),
      },
      OrganizationConsumptionConnection,
    ),
    playbooks: t.connection(
      {
        type: PlaybookConsumption,
        description: 'By playbook, the newest one first; the sessions without one come last.',
        resolve: (ledger, page, context) => sharesConnection(context, 'playbook', ledger, page),
      },
      PlaybookConsumptionConnection,
    ),
  }),
});

const descriptions = {
  from: 'The first day, of UTC.',
  to: 'The last day, at most 400 days in all.',
  userId: 'Only sessions of this user.',
  serviceUserId: 'Only sessions of this service user.',
  sessionId: 'Only this session.',
} as const;

builder.objectField(Organization, 'consumption', (t) =>
  t.field({
    type: Consumption,
    ...boundary('viewConsumption', { items: 31 }),
    description: 'What its sessions have consumed.',
    args: {
      from: t.arg({ type: 'Date', required: true, description: descriptions.from }),
      to: t.arg({ type: 'Date', required: true, description: descriptions.to }),
      userId: t.arg.id({ description: descriptions.userId }),
      serviceUserId: t.arg.id({ description: descriptions.serviceUserId }),
      sessionId: t.arg.id({ description: descriptions.sessionId }),
    },
    resolve: ({ id }, input, { domain }) => openLedger(domain, id, input),
  }),
);

builder.objectField(Enterprise, 'consumption', (t) =>
  t.field({
    type: Consumption,
    ...boundary('viewEnterpriseConsumption', { items: 31 }),
    description: 'What the sessions of all its organizations have consumed.',
    args: {
      from: t.arg({ type: 'Date', required: true, description: descriptions.from }),
      to: t.arg({ type: 'Date', required: true, description: descriptions.to }),
      organizationIds: t.arg.idList({ description: 'Only sessions of these organizations.' }),
      userId: t.arg.id({ description: descriptions.userId }),
      serviceUserId: t.arg.id({ description: descriptions.serviceUserId }),
      sessionId: t.arg.id({ description: descriptions.sessionId }),
    },
    resolve: (_enterprise, input, { domain }) => openLedger(domain, null, input),
  }),
);
