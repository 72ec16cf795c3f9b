import { tokenPrefix } from '../../src/auth/tokens.ts';
import type { ApiKeyKind } from '../../src/auth/viewer.ts';
import { openSigningKey } from '../../src/domain/audit/export/signing-key.ts';
import { insertApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { newId } from '../../src/domain/ids.ts';
import { appendEntries } from '../../src/domain/sessions/log.ts';
import type { Transaction } from '../../src/store/store.ts';
import type { TestApp } from '../support/app.ts';
import { seedCheckpoint, seedSnapshot } from './checkpoints.ts';
import { seedPullRequest } from './pull-requests.ts';
import { seedChanges } from './tenant-changes.ts';
import { entriesOf } from './tenant-entries.ts';
import { seedFiles } from './tenant-files.ts';
import { seedAutomations, seedGitConnection, seedKnowledge, seedProviderKey } from './tenant-resources.ts';

/** Writes rows of one tenant; all their texts contain its name. */
export interface TenantSeeder {
  /** A unique text of the tenant: `canary-b-title-3`. */
  canary(word: string): string;
  user(
    name: string,
    role: { roleId: string; organizationId: string | null } | null,
    ended?: 'deleted' | 'deactivated',
  ): Promise<string>;
  serviceUser(
    name: string,
    role: { roleId: string; organizationId: string | null },
    deleted?: boolean,
  ): Promise<string>;
  role(scope: 'enterprise' | 'organization', permissions: string[]): Promise<string>;
  key(kind: ApiKeyKind, owner: KeyOwner): Promise<{ id: string; token: string }>;
  session(organizationId: string, owner: SessionOwner): Promise<string>;
  /** One of each resource that an organization has for its sessions. */
  resources(
    organizationId: string,
    userId: string,
    serviceKeyId: string,
  ): Promise<{ playbookId: string; automationId: string }>;
  /** A worker of the enterprise with the program of an agent. */
  agentProgram(): Promise<void>;
  /** Knowledge, a playbook and a provider key of the enterprise, and a provider key of the user. */
  ofEnterprise(userId: string): Promise<void>;
  auditEntry(organizationId: string | null, about: { userId?: string; sessionId?: string }): Promise<void>;
}

/** The owner of a session, and its references. */
export interface SessionOwner {
  readonly userId?: string;
  readonly serviceUserId?: string;
  readonly parentId?: string;
  readonly playbookId?: string;
  readonly automationId?: string;
  /** Running if missing. */
  readonly rest?: 'asleep' | 'archived';
}

/** The owner of a key, and its expiry. */
export interface KeyOwner {
  readonly organizationId?: string;
  readonly userId?: string;
  readonly serviceUserId?: string;
  readonly roleId?: string;
  readonly end?: 'expired' | 'revoked';
}

let count = 0;

/** A seeder for an enterprise, whose texts contain `letter`. */
export function createTenantSeeder(test: TestApp, tx: Transaction, enterpriseId: string, letter: string): TenantSeeder {
  const { services } = test.app;
  const createdAt = services.now();
  const canary = (word: string) => {
    count += 1;
    return `canary-${letter}-${word}-${count}`;
  };
  const assign = (
    principal: { userId?: string; serviceUserId?: string },
    role: { roleId: string; organizationId: string | null },
  ) => tx.prisma.roleAssignment.create({ data: { id: newId(), enterpriseId, ...principal, ...role, createdAt } });

  return {
    canary,
    async user(name, role, ended) {
      const id = newId();
      const email = `${canary(name)}@example.com`;
      const ends = ended === undefined ? {} : { [`${ended}At`]: createdAt };
      await tx.prisma.user.create({
        data: { id, enterpriseId, email, name: canary(name), externalId: canary('external'), createdAt, ...ends },
      });
      if (role) await assign({ userId: id }, role);
      const groups = [canary('group')];
      const account = { providerId: 'corp', issuer: canary('issuer'), subject: canary('subject'), groups };
      const identity = { id: newId(), enterpriseId, userId: id, ...account, createdAt, lastSignInAt: createdAt };
      await tx.prisma.userIdentity.create({ data: identity });
      const link = {
        forUserId: id,
        enterpriseId,
        codeHash: services.keyring.hashToken(newId()),
        userId: id,
        createdAt,
      };
      const expiresAt = new Date(createdAt.getTime() + 3_600_000);
      await tx.prisma.signInLink.create({ data: { ...link, expiresAt } });
      const codes = { deviceCodeHash: newId(), userCodeHash: newId(), display: 'cog_abcd…' };
      const program = { clientName: canary('program'), network: '', status: 'denied', createdAt, expiresAt };
      await tx.prisma.deviceAuthorization.create({ data: { id: newId(), enterpriseId, ...codes, ...program } });
      return id;
    },
    async serviceUser(name, role, deleted = false) {
      const id = newId();
      const { organizationId } = role;
      const deletedAt = deleted ? createdAt : null;
      await tx.prisma.serviceUser.create({
        data: { id, enterpriseId, organizationId, name: canary(name), createdAt, deletedAt },
      });
      await assign({ serviceUserId: id }, role);
      return id;
    },
    async role(scope, permissions) {
      const id = newId();
      await tx.prisma.role.create({ data: { id, enterpriseId, name: canary('role'), scope, permissions, createdAt } });
      return id;
    },
    async key(kind, owner) {
      const name = canary('key');
      // The visible part contains the tenant and the key.
      const shown = `${letter}${(count % 1000).toString().padStart(3, '0')}`;
      const token = `${tokenPrefix[kind]}${shown}${newId()}`;
      const { organizationId = null, userId = null, serviceUserId = null, roleId = null, end } = owner;
      const expiresAt = end === 'expired' ? new Date(createdAt.getTime() - 60_000) : null;
      const ownership = { organizationId, userId, serviceUserId, roleId };
      const { id } = await insertApiKey(services, tx, { kind, name, expiresAt, enterpriseId, ...ownership }, token);
      const route = `GET /v1/${canary('route')}`;
      await tx.prisma.legacyCall.create({
        data: { apiKeyId: id, enterpriseId, version: 'v1', route, count: 1, lastCalledAt: createdAt },
      });
      const signedIn = { apiKeyId: id, createdAt, expiresAt: new Date(createdAt.getTime() + 3_600_000) };
      const hash = () => services.keyring.hashToken(newId());
      const halves = { tokenHash: hash(), pageSecretHash: hash() };
      await tx.prisma.consoleSession.create({ data: { id: newId(), ...halves, ...signedIn } });
      await tx.prisma.consoleLink.create({ data: { id: newId(), codeHash: hash(), ...signedIn } });
      if (end === 'revoked') await tx.prisma.apiKey.update({ where: { id }, data: { revokedAt: createdAt } });
      return { id, token };
    },
    async session(organizationId, owner) {
      const id = newId();
      await insertSession(test, tx, { id, enterpriseId, organizationId, canary, ...owner });
      return id;
    },
    async resources(organizationId, userId, serviceKeyId) {
      const value = { value: canary('value'), name: canary('value-name'), description: canary('value-description') };
      const option = { id: canary('option'), name: canary('option-name'), description: canary('option-description') };
      const offered = {
        ...option,
        category: 'model',
        currentValue: value.value,
        values: [value],
        hasMoreValues: false,
      };
      const observed = { organizationId, profileId: 'demo', version: canary('version'), observedAt: createdAt };
      await tx.prisma.agentObservation.create({
        data: { ...observed, offer: { options: [offered], hasMoreOptions: true } },
      });
      const owner = { enterpriseId, organizationId, userId, serviceKeyId, canary };
      // Without a role, so that its member has the permissions of the world's roles alone.
      const membersOnly = { id: newId(), enterpriseId, name: canary('idp-group'), externalId: canary('external') };
      await tx.prisma.idpGroup.create({ data: { ...membersOnly, createdAt } });
      await tx.prisma.idpGroupMember.create({ data: { groupId: membersOnly.id, userId, enterpriseId, createdAt } });
      const groupId = newId();
      const names = { name: canary('idp-group'), externalId: canary('external') };
      await tx.prisma.idpGroup.create({ data: { id: groupId, enterpriseId, ...names, createdAt } });
      const ofGroup = { enterpriseId, groupId, createdAt };
      await tx.prisma.idpGroupRole.createMany({
        data: [
          { ...ofGroup, id: newId(), roleId: 'account_member', organizationId: null },
          { ...ofGroup, id: newId(), roleId: 'org_member', organizationId },
        ],
      });
      const { playbookId } = await seedKnowledge(test, tx, owner);
      const { automationId } = await seedAutomations(test, tx, owner);
      await seedProviderKey(test, tx, owner);
      await seedProviderKey(test, tx, { ...owner, organizationId: null, isOfUser: true });
      await seedGitConnection(test, tx, owner);
      return { playbookId, automationId };
    },
    async agentProgram() {
      const [workerId, host] = [canary('worker'), canary('host')];
      await tx.prisma.worker.create({
        data: { id: workerId, enterpriseId, host, expiresAt: new Date(), seenAt: new Date() },
      });
      const outcome = { state: 'failed', reason: canary('outcome') };
      const report = {
        ...{ id: 'claude', command: [canary('command')], sandbox: 'bwrap', failure: canary('failure') },
        ...{
          options: [{ id: canary('option'), value: canary('value'), choices: [canary('choice')], isLocked: false }],
        },
        ...{ warnings: [canary('warning')], readyMs: 1, mcp: outcome, tools: null, close: outcome },
        ...{ resume: outcome, load: { state: 'works', tookMs: 1 }, answer: null, name: canary('agent') },
        ...{ version: canary('version'), protocolVersion: 1, offers: [canary('offer')], promptContent: ['text'] },
        ...{ authMethods: [], modes: [canary('mode')], currentMode: null, timings: [] },
      };
      await tx.prisma.agentProgram.create({
        data: {
          ...{ workerId, agentId: 'claude', enterpriseId, host },
          ...{ version: canary('version'), source: 'AGENTS_DIRECTORY', path: canary('path') },
          ...{ hasKey: false, canInstall: true, error: canary('error') },
          ...{ progress: canary('progress'), progressPercent: 1 },
          ...{ checkedAt: createdAt, checkReport: report, expiresAt: new Date(createdAt.getTime() + 86_400_000) },
        },
      });
    },
    async ofEnterprise(userId) {
      const owner = { enterpriseId, organizationId: null, userId, canary };
      await seedProviderKey(test, tx, owner);
      await seedProviderKey(test, tx, { ...owner, isOfUser: true });
      await seedGitConnection(test, tx, owner);
      await seedKnowledge(test, tx, { enterpriseId, organizationId: null, userId: null, canary });
      await tx.prisma.legalHold.create({
        data: {
          id: newId(),
          enterpriseId,
          kind: 'USER',
          targetId: userId,
          reason: canary('reason'),
          userId,
          createdAt,
        },
      });
      const inside = { query: tx.query, execute: tx.query } as typeof services.store;
      await openSigningKey({ ...services, store: inside }, enterpriseId);
    },
    async auditEntry(organizationId, { userId, sessionId }) {
      const scope = { enterpriseId, organizationId, userId: userId ?? null, sessionId: sessionId ?? null };
      const what = { action: 'create_session', targetId: sessionId ?? null, address: `${canary('address')}` };
      const data = { note: canary('audit') };
      await tx.prisma.auditEntry.create({ data: { id: newId(), ...scope, ...what, data, createdAt } });
    },
  };
}

async function insertSession(
  test: TestApp,
  tx: Transaction,
  made: SessionOwner & { id: string; enterpriseId: string; organizationId: string; canary: TenantSeeder['canary'] },
): Promise<void> {
  const { id, enterpriseId, organizationId, canary, userId = null, serviceUserId = null } = made;
  const { parentId = null, playbookId = null, automationId = null, rest = null } = made;
  const { services } = test.app;
  const createdAt = services.now();
  const tag = canary('tag');
  const questionId = newId();
  const url = `https://example.com/${canary('pull')}`;
  await tx.prisma.session.create({
    data: {
      id,
      organizationId,
      userId,
      serviceUserId,
      parentId,
      forkedFromId: parentId,
      playbookId,
      automationId,
      title: canary('title'),
      isTitleDerived: false,
      status: rest === null ? 'running' : 'suspended',
      statusDetail: rest === null ? 'waiting_for_user' : 'user_request',
      isArchived: rest === 'archived',
      pendingQuestionId: rest === null ? questionId : null,
      origin: 'api',
      tags: [tag],
      prompt: canary('prompt'),
      snapshotId: canary('snapshot'),
      structuredOutput: { found: canary('output') },
      structuredOutputSchema: { description: canary('schema') },
      agentOptions: [{ id: canary('option'), chosen: canary('value'), applied: null, current: null }],
      pullRequests: [{ url, state: 'open' }],
      createdAt,
      updatedAt: createdAt,
    },
  });
  if (automationId !== null) {
    await tx.query(
      `update automation set actions = jsonb_set(actions, '{1,targetSessionId}', to_jsonb($2::text)) where id = $1`,
      [automationId, id],
    );
    await tx.prisma.automationRun.create({
      data: {
        id: newId(),
        automationId,
        organizationId,
        deliveryKey: canary('delivery'),
        trigger: { eventType: canary('event') },
        status: 'started',
        sessionId: id,
        errorCode: 'INTERNAL',
        errorMessage: canary('error'),
        addition: canary('addition'),
        scheduledFor: createdAt,
        createdAt,
        startedAt: createdAt,
      },
    });
    // The delivery to the organization's endpoint is about its first session.
    await tx.prisma.webhookDelivery.updateMany({
      where: { organizationId, sessionId: null },
      data: { sessionId: id },
    });
  }
  const lastTurn = { turnCount: 1, turnSeqs: [2] };
  const checkpointId = await seedCheckpoint(services, tx, { organizationId, sessionId: id, canary, createdAt });
  await tx.prisma.run.create({
    data: { sessionId: id, homeWorkerId: canary('worker'), checkpointId, ...lastTurn },
  });
  await seedSnapshot(tx, { organizationId, sessionId: id, checkpointId, userId, canary, createdAt });
  await tx.prisma.sessionHead.create({ data: { sessionId: id } });
  await tx.prisma.sessionTag.create({ data: { organizationId, tag, createdAt, sessionId: id } });
  const repositoryId = newId();
  await tx.prisma.sessionRepository.create({
    data: {
      sessionId: id,
      position: 0,
      repositoryId,
      gitConnectionId: newId(),
      host: canary('host'),
      path: canary('path'),
      requestedRef: canary('ref'),
      baseRef: canary('base'),
      baseCommit: canary('commit'),
      branch: canary('branch'),
      pullRequestNumber: 1,
      directory: canary('directory'),
      isReadOnly: false,
      state: 'FAILED',
      error: { message: canary('reason') },
      createdAt,
      updatedAt: createdAt,
    },
  });
  await tx.prisma.followingSession.create({
    data: { followedPullRequestId: newId(), sessionId: id, repositoryId: newId(), url: canary('pull-request') },
  });
  await seedPullRequest(tx, { organizationId, repositoryId, sessionId: id, url, createdAt, canary });
  await seedChanges(services, tx, { organizationId, sessionId: id, canary, createdAt });
  await seedFiles(services, tx, { organizationId, sessionId: id, canary, createdAt });
  const expiresAt = new Date(createdAt.getTime() + 3_600_000);
  await tx.prisma.lease.create({ data: { sessionId: id, workerId: canary('worker'), generation: 0, expiresAt } });
  await tx.prisma.usage.create({
    data: {
      id: newId(),
      enterpriseId,
      organizationId,
      sessionId: id,
      userId,
      serviceUserId,
      acus: 0.5,
      usedAt: createdAt,
    },
  });
  const key = 'CANARY';
  const sealed = services.keyring.seal(canary('secret'), `${id}:${key}`);
  await tx.prisma.sessionSecret.create({ data: { sessionId: id, key, sealed, isSensitive: true } });
  const file = { name: canary('file'), contentType: 'text/plain', sizeBytes: 1, storageKey: canary('storage') };
  await tx.prisma.attachment.create({
    data: { id: newId(), organizationId, sessionId: id, ...file, source: 'user', createdAt },
  });
  const claim = { operation: 'createSession', key: canary('idempotency'), inputHash: newId() + newId(), resultId: id };
  await tx.prisma.idempotencyKey.create({
    data: { organizationId, principal: `USER:${userId}`, ...claim, createdAt },
  });
  // A suspended agent waits for no answer: its earlier question was different.
  const question = { id: questionId, reason: rest === null ? 'question' : 'permission' } as const;
  const entries = entriesOf(canary, { userId, serviceUserId }, question);
  const seqs = await appendEntries(tx, id, null, entries, createdAt);
  const seq = seqs[entries.findIndex(({ messageType }) => messageType === 'user_message')] as number;
  await tx.prisma.messageChange.create({ data: { sessionId: id, seq, body: canary('edited') } });
  if (userId === null) return;
  const view = { name: canary('view'), filter: { search: canary('search') }, createdAt, updatedAt: createdAt };
  await tx.prisma.savedView.create({ data: { principalId: userId, organizationId, ...view } });
  await tx.prisma.sessionRead.create({ data: { principalId: userId, sessionId: id, seq, readAt: createdAt } });
  await tx.prisma.sessionPin.create({ data: { principalId: userId, sessionId: id, createdAt } });
}
