import { newWebhookSecret } from '../../src/domain/automations/triggers/webhook-secrets.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Transaction } from '../../src/store/store.ts';
import type { TestApp } from '../support/app.ts';

/** The owner of seeded resources; without an organization, the enterprise itself. */
export interface ResourceOwner {
  readonly enterpriseId: string;
  readonly organizationId: string | null;
  readonly userId: string | null;
  /** The key that created its automation. */
  readonly serviceKeyId?: string;
  /** A text that contains the tenant's name. */
  canary(word: string): string;
}

/** The resources that sessions refer to. */
export interface Resources {
  readonly playbookId: string;
  readonly noteId: string;
}

/** Seeds knowledge and playbooks of an organization or an enterprise. */
export async function seedKnowledge(test: TestApp, tx: Transaction, owner: ResourceOwner): Promise<Resources> {
  const { enterpriseId, organizationId, userId, canary } = owner;
  const createdAt = test.app.services.now();
  const where = { enterpriseId, organizationId };
  const when = { createdAt, updatedAt: createdAt };
  const folderId = newId();
  await tx.prisma.knowledgeFolder.create({
    data: { id: folderId, ...where, name: canary('folder'), description: canary('description'), ...when },
  });
  await tx.prisma.knowledgeFolder.create({
    data: { id: newId(), ...where, parentId: folderId, name: canary('inner'), ...when },
  });
  const noteId = newId();
  const note = { name: canary('note'), body: canary('body'), trigger: canary('trigger'), macro: `!${canary('macro')}` };
  await tx.prisma.knowledgeNote.create({ data: { id: noteId, ...where, folderId, userId, ...note, ...when } });
  const playbookId = newId();
  const playbook = { title: canary('playbook'), body: canary('body'), macro: `!${canary('macro')}` };
  await tx.prisma.playbook.create({
    data: { id: playbookId, ...where, userId, updatedByUserId: userId, ...playbook, ...when },
  });
  return { playbookId, noteId };
}

const holding = (value: string) => ({ any: [{ all: [{ field: 'tags', operator: 'contains', value }] }] });

/** Seeds resources that only organizations have: secrets and automations. */
export async function seedAutomations(
  test: TestApp,
  tx: Transaction,
  owner: ResourceOwner & { readonly organizationId: string },
): Promise<{ readonly automationId: string; readonly secretId: string }> {
  const { organizationId, userId, serviceKeyId, canary } = owner;
  const { keyring, now } = test.app.services;
  const createdAt = now();
  const when = { createdAt, updatedAt: createdAt };
  const secretId = newId();
  const sealed = keyring.seal(canary('secret'), `${organizationId}:${secretId}`);
  await tx.prisma.secret.create({
    data: {
      id: secretId,
      organizationId,
      key: canary('key').replaceAll('-', '_').toUpperCase(),
      type: 'key-value',
      sealed,
      note: canary('note'),
      isSensitive: true,
      userId,
      ...when,
    },
  });
  // An older organization, which may still create schedules.
  await tx.prisma.organization.update({ where: { id: organizationId }, data: { hasAutomations: false } });
  const automationId = newId();
  const at = `DTSTART:21000101T000000Z\nRRULE:FREQ=DAILY`;
  const conditions = { any: [{ all: [{ field: 'rrule', operator: 'recurrence', value: at }] }] };
  const webhook = newWebhookSecret(test.app.services, { id: automationId, organizationId });
  await tx.prisma.automation.create({
    data: {
      id: automationId,
      organizationId,
      name: canary('automation'),
      isEnabled: false,
      runAs: 'organization',
      triggers: [
        { eventType: 'schedule:recurring', conditions, replies: [], timeZone: 'UTC' },
        { eventType: 'webhook:incoming', conditions: null, replies: [] },
        {
          eventType: 'session:finished',
          conditions: holding(canary('condition')),
          replies: [{ type: 'notify_thread' }],
        },
      ],
      webhookSecretHash: webhook.hash,
      webhookSecretSealed: webhook.sealed,
      // The target session is one that the automation has started, once it is seeded.
      actions: [
        { type: 'start_session', prompt: canary('prompt'), session: sessionOf(canary) },
        { type: 'message_session', prompt: canary('prompt'), targetSessionId: null, autoCreate: true },
        { type: 'monitor_session', setupPrompt: canary('prompt'), slackMonitorConfig: { channel: canary('channel') } },
      ],
      options: optionsOf(canary),
      // It is also visible as a schedule.
      schedule: {
        scheduleType: 'recurring',
        frequency: '0 0 * * *',
        intervalCount: 1,
        scheduledAt: null,
        prompt: canary('prompt'),
        agent: 'standard',
        notifyOn: 'failure',
        bypassApproval: false,
        platform: null,
        playbookId: null,
        tags: null,
        targetSessionId: null,
        slackChannelId: null,
        slackTeamId: null,
      },
      ...(serviceKeyId === undefined ? { userId } : { serviceKeyId }),
      updatedByUserId: userId,
      ...when,
    },
  });
  await seedWebhooks(test, tx, owner);
  return { automationId, secretId };
}

/** Seeds a provider key with usage: of an organization, of the enterprise, or with `isOfUser` the user's own. */
export async function seedProviderKey(
  test: TestApp,
  tx: Transaction,
  { enterpriseId, organizationId, userId, canary, isOfUser = false }: ResourceOwner & { readonly isOfUser?: boolean },
): Promise<void> {
  const { keyring, now } = test.app.services;
  const createdAt = now();
  const id = newId();
  const lastFailure = { code: 'KEY_REFUSED', message: canary('failure'), at: createdAt.toISOString() };
  await tx.prisma.providerKey.create({
    data: {
      id,
      enterpriseId,
      organizationId,
      ownerUserId: isOfUser ? userId : null,
      provider: 'compatible',
      // No server is there: a test of the key fails at once.
      baseUrl: `http://127.0.0.1:1/${canary('path')}`,
      name: canary('provider-key'),
      sealed: keyring.seal(canary('secret'), `${enterpriseId}:${id}`),
      monthlyBudgetUsd: 10,
      inputUsdPerMillion: 1,
      outputUsdPerMillion: 2,
      lastFailure,
      userId,
      createdAt,
      updatedAt: createdAt,
    },
  });
  if (organizationId === null) return;
  const use = { calls: 3n, inputTokens: 5n, outputTokens: 7n, costUsd: 0.5 };
  await tx.prisma.providerKeyUsage.create({
    data: { providerKeyId: id, day: createdAt, organizationId, userId: userId ?? '', ...use },
  });
  const call = { amountUsd: 0.5, workerId: 'none', expiresAt: new Date('2100-01-01') };
  await tx.prisma.providerKeyReservation.create({
    data: { id: newId(), providerKeyId: id, organizationId, userId: userId ?? '', ...call },
  });
}

/** Seeds a git connection of the enterprise and, for an organization, a permission to use one of its repositories. */
export async function seedGitConnection(
  test: TestApp,
  tx: Transaction,
  { enterpriseId, organizationId, canary }: ResourceOwner,
): Promise<void> {
  const { keyring, now } = test.app.services;
  const createdAt = now();
  const when = { createdAt, updatedAt: createdAt };
  const id = newId();
  await tx.prisma.gitConnection.create({
    data: {
      ...{ id, enterpriseId, providerType: 'gitea_token', name: canary('connection') },
      // No server is there: a test of the connection fails at once.
      ...{ host: `https://127.0.0.1:1/${canary('base')}`, hostKey: '127.0.0.1:1' },
      sealed: keyring.seal(JSON.stringify({ token: canary('secret') }), `${enterpriseId}:${id}`),
      lastFailure: { code: 'UNREACHABLE', message: canary('failure'), at: createdAt.toISOString() },
      lastTest: { at: createdAt.toISOString(), report: reportOf(canary) },
      hasWebhookSecret: true,
      ...when,
    },
  });
  await tx.prisma.gitDelivery.create({
    data: {
      ...{ id: newId(), gitConnectionId: id, deliveryKey: canary('delivery'), digest: canary('digest') },
      ...{ eventName: canary('event'), action: canary('action'), repositoryPath: canary('path') },
      ...{ status: 'failed', error: canary('webhook-error'), receivedAt: createdAt, finishedAt: createdAt },
    },
  });
  await tx.prisma.forgeEvent.create({
    data: {
      ...{ id: newId(), gitConnectionId: id, eventType: 'github:issues', repositoryPath: canary('event-path') },
      ...{ digest: canary('event-digest'), senderId: '1', senderLogin: canary('event-sender') },
      ...{ payload: { issue: { title: canary('event-title') } }, error: canary('event-error'), receivedAt: createdAt },
    },
  });
  await tx.prisma.mention.create({
    data: {
      ...{ id: newId(), enterpriseId, gitConnectionId: id, host: canary('mention-host'), path: canary('mention-path') },
      ...{ pathKey: canary('mention-path'), sourceKey: canary('mention-key'), number: 1, isPullRequest: false },
      ...{ authorLogin: canary('mention-author'), body: canary('mention'), title: canary('mention-title') },
      ...{ description: canary('mention-description'), status: 'failed', error: canary('mention-error'), createdAt },
    },
  });
  await tx.prisma.gitConnectionPause.create({
    data: {
      ...{ gitConnectionId: id, pausedAt: createdAt, pausedUntilAt: createdAt },
      ...{ failureCount: 1, error: canary('pause') },
    },
  });
  await tx.prisma.followedPullRequest.create({
    data: {
      ...{ id: newId(), gitConnectionId: id, path: canary('followed'), pathKey: canary('followed'), number: 1 },
      ...{ headBranch: canary('head'), error: canary('read-error'), createdAt },
    },
  });
  await tx.prisma.githubAppRegistration.create({
    data: {
      ...{ id: newId(), enterpriseId, apiKeyId: newId(), stateHash: keyring.hashToken(newId()) },
      ...{ name: canary('app'), host: canary('app-host'), githubOrganization: canary('app-owner') },
      ...{ createdAt, expiresAt: new Date(createdAt.getTime() + 3_600_000) },
    },
  });
  if (organizationId === null) return;
  const path = `${canary('group')}/${canary('repository')}`;
  await tx.prisma.gitPermission.create({
    data: { id: newId(), organizationId, gitConnectionId: id, repoPath: path, createdAt },
  });
  const repositoryId = newId();
  const build = { id: newId(), organizationId, repositoryId, sessionId: newId(), state: 'READY' };
  await tx.prisma.environmentBuild.create({
    data: {
      ...{ ...build, hash: canary('hash'), machine: canary('machine'), commit: canary('commit'), log: canary('log') },
      ...{ definition: `setup: echo ${canary('unsaved')}` },
      ...{ createdAt, startedAt: createdAt, finishedAt: createdAt, usedAt: createdAt },
    },
  });
  const problems = [{ severity: 'WARNING', file: null, line: 1, message: canary('problem') }];
  const environment = { source: '.switchyard/environment.yaml', definition: null, problems };
  await tx.prisma.environmentRead.create({
    data: {
      ...{
        organizationId,
        repositoryId,
        environment,
        commit: canary('read-commit'),
        error: canary('read-environment'),
      },
      ...{ readAt: createdAt, createdAt },
    },
  });
  await tx.prisma.repository.create({
    data: {
      ...{ id: repositoryId, enterpriseId, host: '127.0.0.1:1', path, pathKey: path, gitConnectionId: id },
      ...{ defaultBranch: canary('branch'), description: canary('description'), language: canary('language') },
      ...{ webUrl: `https://127.0.0.1:1/${path}`, providerRepositoryId: canary('provider-id'), isPrivate: true },
      ...{
        // With an error, which has the name.
        environment: `setup: echo ${canary('setup')}\n${canary('member')}: 1`,
        branchTemplate: canary('template'),
        readAt: createdAt,
        ...when,
      },
    },
  });
}

const reportOf = (canary: ResourceOwner['canary']) => ({
  identity: { id: '1', login: canary('login'), name: canary('account'), email: canary('email'), isBot: false },
  abilities: [{ ability: 'push', permission: canary('ability'), isGranted: true, isRequired: true }],
  expiresAt: '2100-01-01T00:00:00.000Z',
  warnings: [canary('warning')],
});

/** Seeds a webhook endpoint and a delivery. */
async function seedWebhooks(
  test: TestApp,
  tx: Transaction,
  { organizationId, userId, canary }: ResourceOwner & { readonly organizationId: string },
): Promise<void> {
  const { keyring, now } = test.app.services;
  const createdAt = now();
  const endpointId = newId();
  await tx.prisma.webhookEndpoint.create({
    data: {
      id: endpointId,
      organizationId,
      url: `https://${canary('host')}.example/`,
      description: canary('description'),
      eventTypes: ['session.message'],
      isEnabled: true,
      sinceAt: createdAt,
      sealed: keyring.seal(canary('secret'), `${organizationId}:${endpointId}`),
      userId,
      createdAt,
      updatedAt: createdAt,
    },
  });
  const startedAt = createdAt.toISOString();
  const attempt = { startedAt, durationMs: 5, statusCode: 500, error: canary('error'), answer: canary('answer') };
  await tx.prisma.webhookDelivery.create({
    data: {
      id: newId(),
      organizationId,
      endpointId,
      eventType: 'session.message',
      eventId: newId(),
      status: 'failed',
      attempts: [attempt],
      begunAt: createdAt,
      finishedAt: createdAt,
      createdAt,
    },
  });
}

const notificationsOf = (canary: ResourceOwner['canary']) => ({
  email: { when: 'always', recipients: [`${canary('recipient')}@example.com`] },
  slack: { when: 'always', channelId: canary('channel') },
});

const sessionOf = (canary: ResourceOwner['canary']) => ({
  tags: [canary('tag')],
  platform: canary('platform'),
  repos: [canary('repo')],
  notifications: notificationsOf(canary),
});

/** Every option of an automation. */
const optionsOf = (canary: ResourceOwner['canary']) => ({
  limits: { maxAcuLimit: 5, invocations: { maxPerWindow: 1, windowSeconds: 60 } },
  concurrency: { maxConcurrentRuns: 1, maxQueueDepth: 1 },
  metadata: { owner: canary('metadata') },
  notifications: notificationsOf(canary),
  sessionSettings: { sessionMode: 'normal', netPolicy: { allow: [{ hostname: canary('host') }] } },
  securityProfile: { profileId: canary('profile') },
  templateId: canary('template'),
  tools: { mcpServers: [canary('server')], slackChannels: [canary('channel')], slackDmScope: canary('scope') },
});
