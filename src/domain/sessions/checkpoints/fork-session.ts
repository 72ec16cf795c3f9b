import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../../auth/viewer.ts';
import type { Transaction } from '../../../store/store.ts';
import { type Field, type Narrowed, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { readTagRules } from '../../identity/organizations/allowed-tags.ts';
import { type OrganizationRecord, useOrganization } from '../../identity/organizations/use-organization.ts';
import { newId } from '../../ids.ts';
import { maxTitleLength, parseInput, text } from '../../input.ts';
import { maxAcuLimitSchema } from '../acu-limit.ts';
import {
  maxPromptLength,
  type SessionToWrite,
  sessionSecretsSchema,
  tagsSchema,
  writeSession,
} from '../create-session.ts';
import { getSessionFor, isOwn, readOwnSession } from '../find-session.ts';
import { readStoredOptions, writeStoredOptions } from '../options/stored-options.ts';
import { readInheritedRepositories } from '../repositories/inherited-repositories.ts';
import type { SessionOrigin, SessionRecord } from '../session.ts';
import { chooseCheckpoint, type SessionPoint } from './choose-checkpoint.ts';
import { lockCheckpoints } from './copy-checkpoint.ts';

/** The values of a fork in inputs. Omitted or null: those of the session that it is made of. */
export const forkSchema = z.object({
  prompt: text('prompt', { min: 1, max: maxPromptLength, isBlankRefused: true }).nullish(),
  title: text('title', { max: maxTitleLength }).nullish(),
  tags: tagsSchema.nullish(),
  maxAcuLimit: maxAcuLimitSchema,
  sessionSecrets: sessionSecretsSchema.nullish(),
});

/** The session to fork, the point that the fork begins at, and its values. */
export interface ForkSessionInput extends z.input<typeof forkSchema> {
  /** In any form. */
  readonly sessionId: string;
  readonly point: SessionPoint;
}

/** Properties of the call that are not part of the input. */
export interface ForkSessionOptions extends CreateOptions {
  readonly origin: SessionOrigin;
}

const copiedFields = [
  'organizationId',
  'title',
  'tags',
  'playbookId',
  'agent',
  'maxAcuLimit',
  'isUnlisted',
  'structuredOutputSchema',
] as const satisfies readonly Field<'Session'>[];

/** The values that a fork takes over from a session, without objects that were deleted since. */
interface CopiedValues extends Narrowed<'Session', (typeof copiedFields)[number], Record<never, never>> {
  readonly playbook: string | null;
  /** Null: all. */
  readonly secretIds: string[] | null;
  readonly knowledgeIds: string[] | null;
}

const valuesOf = `
  select ${selectFields('Session', 's', copiedFields)},
         (select p.id from playbook p where p.id = s.playbook_id and p.deleted_at is null) as playbook,
         case when s.secret_ids is not null then (select coalesce(json_agg(x.id order by x.id), '[]'::json) from secret x
           where x.organization_id = s.organization_id and s.secret_ids ? x.id) end as "secretIds",
         case when s.knowledge_ids is not null then (select coalesce(json_agg(n.id order by n.id), '[]'::json) from knowledge_note n
           where (n.organization_id = s.organization_id or n.organization_id is null) and s.knowledge_ids ? n.id) end as "knowledgeIds"
    from session s where s.id = $1`;

/**
 * Starts a session with the files and the agent of another one at a checkpoint. It belongs to the viewer, is in the same organization and
 * has the same settings, repositories with branches of its own, and no messages of the other session. Without a prompt it waits for its
 * first message. The viewer must be allowed to view and to change the session, whose files it gets, and to start sessions. Only the
 * principal that started the session gets its session secrets. Throws the errors of `createSession`, NOT_FOUND, FORBIDDEN, and
 * INVALID_STATE for a turn without a checkpoint.
 */
export async function forkSession(
  context: Context,
  raw: ForkSessionInput,
  options: ForkSessionOptions,
): Promise<{ readonly session: SessionRecord; readonly isNew: boolean }> {
  const seen = await getSessionFor(context, permissionFor.changeSession, { sessionId: raw.sessionId });
  requirePermission(context.viewer, permissionFor.viewSession, seen.organizationId);
  const organization = await useOrganization(context, seen.organizationId, permissionFor.createSession);
  const input = parseInput(forkSchema, raw);
  const id = newId();
  const claim = { operation: 'forkSession', input: { ...raw, sessionId: seen.id }, resultId: id };
  const replay = await context.store.transact(async (tx) => {
    const found = await findReplay(context, tx, options, { scope: organization.id, ...claim });
    if (found !== null) return found;
    await lockCheckpoints(tx, seen.id);
    const checkpoint = await chooseCheckpoint(tx, seen, raw.point);
    const values = await readValues(tx, seen.id);
    const repositories = await readInheritedRepositories(tx, seen.id);
    const copied = await copiedInput(tx, organization, values, input);
    const secrets = isOwn(context, seen) ? await readSecrets(context, tx, seen.id) : [];
    const session: SessionToWrite = {
      id,
      input: { ...copied, sessionSecrets: [...secrets, ...(input.sessionSecrets ?? [])] },
      owner: ownerOf(context.viewer),
      origin: options.origin,
      fork: { sessionId: seen.id, beginning: { checkpoint, snapshotName: null, repositories } },
      automationId: null,
      tokensIn: null,
    };
    await writeSession(context, tx, organization, session);
    await copyOptions(tx, seen.id, id);
    return null;
  });
  return { session: await readOwnSession(context, replay ?? id), isNew: replay === null };
}

async function readValues(tx: Transaction, sessionId: string): Promise<CopiedValues> {
  const [values] = await tx.query<CopiedValues>(valuesOf, [sessionId]);
  if (!values) throw new Error(`Session ${sessionId} has no row.`);
  return values;
}

async function copiedInput(
  tx: Transaction,
  { maxSessionAcuLimit }: OrganizationRecord,
  values: CopiedValues,
  { prompt, title, tags, maxAcuLimit }: z.output<typeof forkSchema>,
): Promise<SessionToWrite['input']> {
  // The organization may have lowered its limit since.
  const copiedLimit = values.maxAcuLimit === null ? null : Math.min(values.maxAcuLimit, maxSessionAcuLimit ?? Infinity);
  const { allowedTags } = await readTagRules(tx, values.organizationId);
  const mayHave = (tag: string) => allowedTags.length === 0 || allowedTags.includes(tag);
  return {
    prompt: prompt ?? '',
    title: title || (prompt == null ? values.title : undefined),
    tags: tags ?? values.tags.filter(mayHave),
    maxAcuLimit: maxAcuLimit ?? copiedLimit,
    playbookId: values.playbook,
    agent: values.agent,
    isUnlisted: values.isUnlisted,
    structuredOutputSchema: values.structuredOutputSchema ?? undefined,
    secretIds: values.secretIds,
    knowledgeIds: values.knowledgeIds,
  };
}

// Bound to their session, so they are sealed again for the fork.
async function readSecrets({ keyring }: Context, tx: Transaction, sessionId: string) {
  const rows = await tx.prisma.sessionSecret.findMany({ where: { sessionId } });
  return rows.map(({ key, sealed, isSensitive }) => ({
    key,
    value: keyring.open(sealed, `${sessionId}:${key}`),
    sensitive: isSensitive,
  }));
}

// The agent gets the same choices as when the other session is resumed, and drops what it does not offer any more.
async function copyOptions(tx: Transaction, fromId: string, toId: string): Promise<void> {
  const [stored = []] = await readStoredOptions(tx, [fromId]);
  const chosen = stored.filter(({ chosen }) => chosen !== null);
  if (chosen.length === 0) return;
  await writeStoredOptions(
    tx,
    toId,
    chosen.map((option) => ({ ...option, applied: null, current: null })),
  );
}
