import {
  type ConnectionFailure,
  type GitConnectionRecord,
  gitConnectionsOf,
  type StoredReport,
  type WebhookFailure,
} from '../../../domain/git-connections/git-connections.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { AbilityReport, ForgeIdentity } from '../../../forges/interface/forge.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { Enterprise } from './enterprise-ref.ts';
import { GitAbilityEnum, GitFailureCodeEnum, GitProviderTypeEnum } from './git-enums.ts';
import { createdMembers, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { restIdField } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';

const GitIdentity = builder.objectRef<ForgeIdentity>('GitIdentity').implement({
  description: 'Account of a git connection at its forge.',
  fields: (t) => ({
    login: t.exposeString('login', { description: 'Name of the account at the forge.' }),
    name: t.exposeString('name', { description: 'Display name of the account.' }),
    isBot: t.exposeBoolean('isBot', { description: 'Whether the account is of a program.' }),
  }),
});

const GitAbilityReport = builder.objectRef<AbilityReport>('GitAbilityReport').implement({
  description: 'Permission that a git connection has or lacks.',
  fields: (t) => ({
    ability: t.expose('ability', { type: GitAbilityEnum, description: 'Purpose of the permission.' }),
    permission: t.exposeString('permission', { description: 'Permission in the words of the forge.' }),
    isGranted: t.exposeBoolean('isGranted', {
      nullable: true,
      description: 'Whether the connection has the permission; null if the forge does not tell before it is used.',
    }),
    isRequired: t.exposeBoolean('isRequired', {
      description: 'Whether sessions need the permission. Without the others they can do less.',
    }),
  }),
});

/** The report of a test. */
export const GitConnectionReport = builder.objectRef<StoredReport>('GitConnectionReport').implement({
  description: 'Abilities of a git connection, as the forge reports them.',
  fields: (t) => ({
    identity: t.expose('identity', {
      type: GitIdentity,
      nullable: true,
      description: 'Account of the connection; null for a connection without one.',
    }),
    abilities: t.field({
      type: [GitAbilityReport],
      description: 'Permissions that the connection has or lacks.',
      resolve: ({ abilities }) => [...abilities],
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the credential expires; null if it does not, or the forge does not tell.',
      resolve: ({ expiresAt }) => (expiresAt === null ? null : new Date(expiresAt)),
    }),
    warnings: t.stringList({
      description: 'Sentences about what a person should change.',
      resolve: ({ warnings }) => [...warnings],
    }),
  }),
});

const GitConnectionFailure = builder.objectRef<ConnectionFailure>('GitConnectionFailure').implement({
  description: 'Failed call through a git connection.',
  fields: (t) => ({
    code: t.expose('code', { type: GitFailureCodeEnum, description: 'Cause of the failed call.' }),
    message: t.exposeString('message', { description: 'Explanation of the failure for people.' }),
    at: t.field({
      type: 'DateTime',
      description: 'Time when the failed call was made.',
      resolve: ({ at }) => new Date(at),
    }),
  }),
});

const GitWebhookFailure = builder.objectRef<WebhookFailure>('GitWebhookFailure').implement({
  description: 'Webhook of a forge that was refused or could not be processed.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'Explanation of the failure for people.' }),
    at: t.field({
      type: 'DateTime',
      description: 'Time when the webhook arrived.',
      resolve: ({ at }) => new Date(at),
    }),
  }),
});

export const GitConnection = builder.objectRef<GitConnectionRecord>('GitConnection');

/** The types of lists of GitConnection. */
export const GitConnectionList = listTypes(GitConnection, 'GitConnection');

builder.node(GitConnection, {
  description:
    'Account at a forge that an enterprise connected. The credential can be written but never read. Agents never have it: the service adds it to their calls.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the git connection, unique across all types.' },
  fields: (t) => ({
    gitConnectionId: restIdField(
      t,
      'gitConnection',
      'Id of the git connection: `git-connection-` and 32 hexadecimal digits.',
    ),
    providerType: t.expose('providerType', { type: GitProviderTypeEnum, description: 'Kind of the git connection.' }),
    name: t.exposeString('name', { description: 'Name of the connection, unique in the enterprise.' }),
    host: t.exposeString('host', { description: 'Host name of the forge, or its base URL.' }),
    username: t.exposeString('username', {
      nullable: true,
      description: 'User name for a git server; null if there is none.',
    }),
    appId: t.exposeString('appId', { nullable: true, description: 'Id of the GitHub App; null for any other kind.' }),
    installationId: t.exposeString('installationId', {
      nullable: true,
      description: 'Id of the installation of the GitHub App; null for its only one, and for any other kind.',
    }),
    hasCredential: t.exposeBoolean('hasCredential', {
      description: 'Whether a credential is stored. False for public repositories of a git server.',
    }),
    webhookUrl: t.field({
      type: 'URI',
      nullable: true,
      description: 'Address to enter at the forge for its webhooks; null for a kind without webhooks.',
      resolve: ({ id, providerType }, _args, { domain }) =>
        providerType === 'git_https' ? null : `${domain.baseUrl}/webhooks/git/${prefixedId('gitConnection', id)}`,
    }),
    hasWebhookSecret: t.exposeBoolean('hasWebhookSecret', {
      description: 'Whether a secret for webhooks is stored. Without one, every webhook is refused.',
    }),
    lastWebhookAt: t.expose('lastWebhookAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last webhook with a correct signature; null if there was none in the last week.',
    }),
    lastWebhookFailure: t.expose('lastWebhookFailure', {
      type: GitWebhookFailure,
      nullable: true,
      description: 'Last webhook that could not be processed; null if there was none in the last week.',
    }),
    lastWebhookRefusal: t.expose('lastWebhookRefusal', {
      type: GitWebhookFailure,
      nullable: true,
      description:
        'Last webhook that was refused with 401, with the reason; null if there was none. At most one in a minute is recorded.',
    }),
    lastReport: t.field({
      type: GitConnectionReport,
      nullable: true,
      description: 'Report of the last test that the forge answered; null if there is none.',
      resolve: ({ lastTest }) => lastTest?.report ?? null,
    }),
    lastTestedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last test that the forge answered; null if there is none.',
      resolve: ({ lastTest }) => (lastTest === null ? null : new Date(lastTest.at)),
    }),
    lastFailure: t.expose('lastFailure', {
      type: GitConnectionFailure,
      nullable: true,
      description: 'Last test if it failed; null if it succeeded or there was none.',
    }),
    ...authorshipFields(t),
  }),
});

const GitConnectionFilterInput = filterInput('GitConnection', (t) => ({
  search: t.string({
    description: 'Only connections with a name or host that contains this text, regardless of case.',
  }),
  providerType: t.field({ type: [GitProviderTypeEnum], description: 'Only connections of one of these kinds.' }),
  ...createdMembers(t),
}));

const GitConnectionOrderInput = orderInput('GitConnection', 'Time when the connection was created.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

addList(Enterprise, 'gitConnections', {
  types: GitConnectionList,
  filter: GitConnectionFilterInput,
  order: GitConnectionOrderInput,
  description: 'Git connections of the enterprise, without their credentials.',
  needs: ['viewGitConnections', 'manageGitConnections'],
  read: (_enterprise, { filter, orderBy }, { domain }) =>
    gitConnectionsOf(
      domain,
      { ...parseListFilter(filter), providerTypes: filter?.providerType ?? undefined },
      orderBy as never,
    ),
});
