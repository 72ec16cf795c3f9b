import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { type Owner, ownerOf } from '../../auth/viewer.ts';
import { refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, canonicalJson, checkIdempotencyKey, claimIdempotencyKey } from '../idempotency.ts';
import { tagsOfNewSession } from '../identity/organizations/allowed-tags.ts';
import { requireQueueRoom, requireStorage } from '../identity/organizations/organization-quotas.ts';
import { chooseOrganization, type OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { newId, prefixedId } from '../ids.ts';
import { maxTitleLength, parseInput, text } from '../input.ts';
import { maxRepositories, sessionRepositoriesSchema } from '../repositories/session-repository-input.ts';
import { isEnvironmentName } from '../secret-names.ts';
import { schemaProblem } from '../structured-output-schema.ts';
import { maxAcuLimitSchema, sessionAcuLimit } from './acu-limit.ts';
import { admitChild, type ParentRun } from './admit-child.ts';
import { chooseOwner } from './as-user.ts';
import { attach } from './attachments/attach.ts';
import { type Beginning, beginningEntry, findBeginning, missingSnapshotEntry } from './checkpoints/beginning.ts';
import { beginWithCopy } from './checkpoints/copy-checkpoint.ts';
import { defaultAgentOf } from './default-agent.ts';
import { readOwnSession } from './find-session.ts';
import { appendEntries, type NewEntry } from './log.ts';
import { checkChoices, optionChoicesSchema } from './options/check-choices.ts';
import { withChoices } from './options/stored-options.ts';
import { resolveReferences } from './references.ts';
import { type ChosenRepository, chooseRepositories } from './repositories/choose-repositories.ts';
import {
  insertRepositories,
  planDirectories,
  repositoryNames,
  reservedDirectories,
} from './repositories/write-repositories.ts';
import { type SessionOrigin, type SessionRecord, sessionOrigins } from './session.ts';

/** Maximum length of a prompt or message, in characters. It fits, as JSON, in a body of 1 MiB. */
export const maxPromptLength = 500_000;
/** Maximum number of tags on a session. */
export const maxTags = 50;

const ids = z.array(z.string()).nullish();

/** The tags of a session: at most 50, each with 1 to 200 characters. Duplicates are removed, and the order is kept. */
export const tagsSchema = z
  .array(text('tags', { min: 1, max: 200 }))
  .max(maxTags, {
    error: (issue) => `"tags" must have at most ${maxTags} items, but has ${(issue.input as unknown[]).length}.`,
  })
  .transform((tags) => [...new Set(tags)]);

/** A secret of one session in inputs. */
export const sessionSecretSchema = z.object({
  key: text('key', { min: 1, max: 256 }).refine(isEnvironmentName, {
    error:
      '"key" must be the name of an environment variable: letters, digits and "_", not beginning with a digit, and none that would change the agent itself (PATH, HOME, LD_…, NODE_OPTIONS …).',
  }),
  value: text('value', { max: 65_536 }),
  sensitive: z
    .boolean()
    .nullish()
    .transform((sensitive) => sensitive ?? true),
});

/** The secrets of one session in inputs. */
export const sessionSecretsSchema = z
  .array(sessionSecretSchema)
  .max(200, '"sessionSecrets" must have at most 200 items.');

/** The values of a new session in inputs. */
export const sessionSchema = z.object({
  prompt: text('prompt', { min: 1, max: maxPromptLength, isBlankRefused: true }),
  title: text('title', { max: maxTitleLength }).nullish(),
  tags: tagsSchema.nullish(),
  maxAcuLimit: maxAcuLimitSchema,
  sessionSecrets: sessionSecretsSchema.nullish(),
  structuredOutputSchema: z
    .unknown()
    .superRefine((schema, check) => {
      const problem = schema == null ? null : schemaProblem(schema);
      if (problem !== null) check.addIssue({ code: 'custom', message: problem });
    })
    .optional(),
  snapshotId: text('snapshotId', { min: 1, max: 200 }).nullish(),
  playbookId: z.string().nullish(),
  secretIds: ids,
  knowledgeIds: ids,
  attachmentIds: ids,
  agent: z.string().nullish(),
  createAsUserId: z.string().nullish(),
  isUnlisted: z.boolean().nullish(),
  options: optionChoicesSchema.nullish(),
  repositories: sessionRepositoriesSchema.nullish(),
  /** Names of repositories, which are only text in an enterprise that never had a git connection. */
  repos: z
    .array(text('repos', { min: 1, max: 1_000 }), { error: '"repos" must be a list.' })
    .max(maxRepositories, `"repos" must have at most ${maxRepositories} items.`)
    .nullish(),
});

/** The input of a new session; null and omitted mean the same. Ids in any form. */
export type CreateSessionInput = z.input<typeof sessionSchema>;

/** Properties of the call that are not part of the input. */
export interface CreateSessionOptions extends CreateOptions {
  /** In any form; if omitted: the organization that the viewer's key is bound to. */
  readonly organizationId?: string | null | undefined;
  readonly origin: SessionOrigin;
  /** The session whose agent starts this one. */
  readonly parent?: ParentRun | undefined;
  /** The same input from the same caller returns the same session, even without a key (v1's `idempotent`). */
  readonly isIdempotent?: boolean | undefined;
}

/**
 * Starts a session, which waits for a worker from the commit on. Writes nothing if any part of the input is refused.
 * Throws INVALID_INPUT, UNKNOWN_REFERENCE, LIMIT_EXCEEDED, FORBIDDEN, ORGANIZATION_NOT_USABLE, IDEMPOTENCY_CONFLICT.
 * Without an ACU limit of its own, the session has the organization's limit for a session.
 */
export async function createSession(
  context: Context,
  raw: CreateSessionInput,
  options: CreateSessionOptions,
): Promise<{ session: SessionRecord; isNew: boolean }> {
  const organization = await chooseOrganization(context, options.organizationId, permissionFor.createSession);
  const input = parseInput(sessionSchema, raw);
  if (!sessionOrigins.includes(options.origin)) throw refuse(['origin'], 'Unknown origin.');
  const owner = await chooseOwner(context, organization.id, {
    userId: input.createAsUserId,
    argument: 'createAsUserId',
    permission: permissionFor.createSessionAsUser,
  });
  const key = idempotencyKeyOf(context, raw, options);

  const id = newId();
  const { sessionId, isNew } = await context.store.transact(async (tx) => {
    if (key !== null) {
      const claim = { organizationId: organization.id, operation: 'createSession', key, input: raw, resultId: id };
      const { replay } = await claimIdempotencyKey(context, tx, claim);
      options.onClaim?.(replay !== null);
      if (replay !== null) return { sessionId: replay, isNew: false };
    }
    // Checked only here: a repeated call returns the session that was created under its key, even if the limit or the
    // references have changed since.
    const { origin, parent } = options;
    const tokensIn = input.prompt;
    await writeSession(context, tx, organization, { id, input, owner, origin, parent, automationId: null, tokensIn });
    return { sessionId: id, isNew: true };
  });
  return { session: await readOwnSession(context, sessionId), isNew };
}

/**
 * Starts a session of an automation, or of a mention at a forge, within a transaction, and returns its id. The viewer is the owner of the session,
 * and the caller has checked that it may start sessions in the organization. Throws the errors of {@link
 * createSession}.
 */
export async function insertSession(
  context: Context,
  tx: Transaction,
  organization: OrganizationRecord,
  { input: raw, automationId }: { readonly input: CreateSessionInput; readonly automationId: string | null },
): Promise<string> {
  const input = parseInput(sessionSchema, raw);
  const id = newId();
  const owner = ownerOf(context.viewer);
  // The caller has read the tokens of the prompt, which may also have text of an event's sender.
  const origin = automationId === null ? 'other' : 'automation';
  const whole = { id, input, owner, origin, automationId, tokensIn: null } as const;
  await writeSession(context, tx, organization, whole);
  return id;
}

/** A session to write, whose input was checked. */
export interface SessionToWrite {
  readonly id: string;
  readonly input: ParsedInput;
  readonly owner: Owner;
  readonly origin: SessionOrigin;
  readonly parent?: ParentRun | undefined;
  /** The session that it is a fork of, and the checkpoint of it that it begins with. */
  readonly fork?: { readonly sessionId: string; readonly beginning: Beginning } | undefined;
  readonly automationId: string | null;
  /** Text whose tokens name repositories; null: none do. */
  readonly tokensIn: string | null;
  /** The set-up of a repository that the session exists for; missing: it has an agent. */
  readonly setUp?:
    | undefined
    | { readonly repository: string; readonly trigger: string; readonly hasDefinition: boolean };
}

/** Writes a session with everything that belongs to it, and records the act. Throws the errors of {@link createSession}. */
export async function writeSession(
  context: Context,
  tx: Transaction,
  organization: OrganizationRecord,
  { id, input, owner, origin, parent, fork, automationId, tokensIn, setUp }: SessionToWrite,
): Promise<void> {
  const organizationId = organization.id;
  // A set-up in advance is the service's own work.
  if (setUp === undefined) await requireStorage(context, tx, organization);
  const references = await resolveReferences(context, tx, organizationId, input);
  const requested = input.maxAcuLimit ?? null;
  const left = parent ? await admitChild(tx, parent, organization, requested) : requested;
  const maxAcuLimit = sessionAcuLimit(organization, left);
  const agent = references.agent ?? (await defaultAgentOf(context, tx, organization, owner.userId ?? null));
  if (input.options?.length) await checkChoices(context, tx, { organizationId, agent, before: [] }, input.options);
  const named = { text: input.prompt, attachmentIds: references.attachmentIds };
  const prompt = await attach(context, tx, { id, organizationId }, named);
  const tags = await tagsOfNewSession(tx, organizationId, input.tags);
  const parentId = fork?.sessionId ?? parent?.sessionId ?? null;
  const { repositories: wanted = null, repos: names = null, snapshotId = null } = input;
  const beginning =
    fork?.beginning ?? (snapshotId === null ? null : await findBeginning(tx, organizationId, snapshotId));
  const inherited = beginning?.repositories ?? null;
  const sources = { named: wanted, names, prompt: tokensIn, parentId, inherited };
  const repositories = await chooseRepositories(context, tx, organization, sources);
  const reserved = reservedDirectories(repositories, inherited);
  planDirectories(repositories, reserved);
  const whole = { ...references, prompt, agent, maxAcuLimit, tags };
  const branchTemplate = organization.branchTemplate;
  const rows = {
    id,
    organizationId,
    input: whole,
    owner,
    origin,
    parentId,
    automationId,
    fork,
    repositories,
    reserved,
    branchTemplate,
    beginning,
    setUp,
  };
  // A fork may wait for its first message.
  if (prompt !== '' && setUp === undefined) await requireQueueRoom(context, tx, organization);
  await insertRows(context, tx, rows);
  await audit(context, tx, 'create_session', {
    organizationId,
    sessionId: id,
    targetId: id,
    data: { ...(automationId === null ? {} : { automationId }), ...(fork && forkData(fork)), ...setUp },
  });
  tx.afterCommit(() => {
    context.notifier.notify(`organization:${organizationId}`);
    context.notifier.notify('runs');
  });
}

const forkData = ({ sessionId, beginning }: NonNullable<SessionToWrite['fork']>) => ({
  forkedFromId: prefixedId('session', sessionId),
  checkpointId: prefixedId('checkpoint', beginning.checkpoint.id),
});

/** The input of a new session after its check. An empty prompt: the session waits for its first message, or for its set-up. */
type ParsedInput = z.output<typeof sessionSchema>;

function idempotencyKeyOf(context: Context, raw: CreateSessionInput, options: CreateSessionOptions): string | null {
  if (options.idempotencyKey != null) {
    checkIdempotencyKey(options.idempotencyKey);
    return options.idempotencyKey;
  }
  return options.isIdempotent ? context.keyring.hashToken(`idempotent:${canonicalJson(raw)}`) : null;
}

/** Derives a title from the prompt: its first line that is not empty, at most 80 characters. */
export function titleFromPrompt(prompt: string): string {
  const line = prompt.trim().split(/\r?\n/, 1)[0] ?? '';
  const characters = [...line];
  return characters.length <= 80 ? line : `${characters.slice(0, 79).join('')}…`;
}

async function insertRows(
  context: Context,
  tx: Transaction,
  session: Omit<SessionToWrite, 'parent' | 'tokensIn'> & {
    readonly organizationId: string;
    readonly parentId: string | null;
    readonly repositories: readonly ChosenRepository[];
    readonly reserved: readonly string[];
    readonly branchTemplate: string | null;
    readonly beginning: Beginning | null;
  },
): Promise<void> {
  const { id, organizationId, input, owner, origin, parentId, fork, automationId, repositories, beginning } = session;
  const { branchTemplate, reserved } = session;
  const now = context.now();
  const hasPrompt = input.prompt !== '';
  const isQueued = hasPrompt || session.setUp !== undefined;
  const state = isQueued ? newState : waitingState;
  const json = (value: unknown) => (value == null ? {} : { value: JSON.parse(JSON.stringify(value)) });
  const schema = json(input.structuredOutputSchema);
  const tags = input.tags ?? [];
  const title = input.title || titleFromPrompt(input.prompt);
  await tx.prisma.session.create({
    data: {
      id,
      organizationId,
      title,
      isTitleDerived: !input.title,
      status: state.status,
      statusDetail: state.statusDetail,
      isUnlisted: input.isUnlisted ?? false,
      origin,
      tags: [...tags],
      ...(repositories.length > 0 ? { repositoryNames: repositoryNames(repositories) } : {}),
      prompt: input.prompt,
      snapshotId: input.snapshotId ?? null,
      playbookId: input.playbookId ?? null,
      automationId,
      parentId,
      forkedFromId: fork?.sessionId ?? null,
      forkedCheckpointId: fork?.beginning.checkpoint.id ?? null,
      agent: input.agent ?? null,
      maxAcuLimit: input.maxAcuLimit ?? null,
      ...(input.secretIds ? { secretIds: input.secretIds } : {}),
      ...(input.knowledgeIds ? { knowledgeIds: input.knowledgeIds } : {}),
      ...('value' in schema ? { structuredOutputSchema: schema.value } : {}),
      ...(input.options?.length ? { agentOptions: json(withChoices([], input.options)).value } : {}),
      ...owner,
      createdAt: now,
      updatedAt: now,
    },
  });
  const principalId = owner.userId ?? owner.serviceUserId ?? '';
  await tx.prisma.run.create({
    data: { sessionId: id, organizationId, principalId, queuedAt: isQueued ? now : null },
  });
  await tx.prisma.sessionHead.create({ data: { sessionId: id } });
  if (beginning !== null) {
    const copy = { from: beginning.checkpoint, sessionId: id, generation: 0, turn: 0, seq: 0, now };
    await beginWithCopy(tx, { ...copy, kind: 'FORK', withAgentSession: fork !== undefined });
  }
  if (tags.length > 0) {
    await tx.prisma.sessionTag.createMany({
      data: tags.map((tag) => ({ organizationId, tag, createdAt: now, sessionId: id })),
    });
  }
  await insertRepositories(tx, repositories, { id, title, branchTemplate, reserved, now });
  const secrets = new Map((input.sessionSecrets ?? []).map((secret) => [secret.key, secret]));
  if (secrets.size > 0) {
    await tx.prisma.sessionSecret.createMany({
      data: [...secrets.values()].map((secret) => ({
        sessionId: id,
        key: secret.key,
        sealed: context.keyring.seal(secret.value, `${id}:${secret.key}`),
        isSensitive: secret.sensitive,
      })),
    });
  }
  const entries: NewEntry[] = [
    { kind: 'STATUS', data: { ...state, request: null, endedBy: null, isArchived: false } },
    ...(beginning === null ? [] : [{ ...beginningEntry(beginning), ...owner }]),
    ...(beginning === null && input.snapshotId ? [missingSnapshotEntry(input.snapshotId)] : []),
    ...(hasPrompt
      ? [{ kind: 'MESSAGE', messageType: 'initial_user_message', body: input.prompt, ...owner } as const]
      : []),
  ];
  await appendEntries(tx, id, null, entries, now);
}

const newState = { status: 'new', statusDetail: null } as const;
const waitingState = { status: 'running', statusDetail: 'waiting_for_user' } as const;
