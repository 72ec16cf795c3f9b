import { DomainError, type Issue } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { agentIssues } from '../identity/organizations/agents.ts';
import { type IdKind, parseId } from '../ids.ts';
import { notOfTool } from './attachments/attachments.ts';
import { parseAttachmentReference } from './attachments/links.ts';

/** The references that the input of a session may have. Ids in any form; attachments also by their URLs. */
interface References {
  readonly playbookId?: string | null | undefined;
  readonly secretIds?: readonly string[] | null | undefined;
  readonly knowledgeIds?: readonly string[] | null | undefined;
  readonly attachmentIds?: readonly string[] | null | undefined;
  readonly agent?: string | null | undefined;
  readonly structuredOutputSchema?: unknown;
}

/**
 * Selects those of the unprefixed ids $1 that an organization ($2) of an enterprise ($3) may use: its own, and the
 * enterprise's. A principal that may start sessions there may refer to them, even without the permission to read them.
 */
const usable = {
  playbook: `select p.id from playbook p where p.id = any($1::text[]) and (p.organization_id = $2 or p.organization_id is null)
     and p.enterprise_id = $3 and p.deleted_at is null`,
  note: `select n.id from knowledge_note n where n.id = any($1::text[]) and (n.organization_id = $2 or n.organization_id is null)
     and n.enterprise_id = $3`,
  secret: `select s.id from secret s join organization o on o.id = s.organization_id
     where s.id = any($1::text[]) and s.organization_id = $2 and o.enterprise_id = $3`,
  attachment: `select a.id from attachment a join organization o on o.id = a.organization_id
     where a.id = any($1::text[]) and a.organization_id = $2 and o.enterprise_id = $3 and ${notOfTool}`,
} as const satisfies Partial<Record<IdKind, string>>;

/**
 * Returns the input with unprefixed ids and without duplicates, after a check that the organization may use every
 * reference. An object of another organization counts as unknown. Throws UNKNOWN_REFERENCE for the first unknown id of
 * each kind. If the input has no schema for the structured output, the playbook's applies.
 */
export async function resolveReferences<T extends References>(
  context: Context,
  tx: Transaction,
  organizationId: string,
  input: T,
): Promise<T> {
  const issues: Issue[] = [];
  const resolve = async (name: keyof References, kind: IdKind, ids: readonly string[] | null | undefined) => {
    if (ids == null || ids.length === 0) return ids;
    const bare = ids.map((text) => (kind === 'attachment' ? parseAttachmentReference(text) : parseId(kind, text)));
    const sql: string | undefined = usable[kind as keyof typeof usable];
    const values = [bare.filter((id) => id !== null), organizationId, context.viewer.enterpriseId];
    // A kind without a statement has no rows yet, so none of its ids can exist.
    const rows = sql === undefined ? [] : await tx.query<{ id: string }>(sql, values);
    const existing = new Set<string | null>(rows.map(({ id }) => id));
    const unknown = ids.find((_text, n) => !existing.has(bare[n] ?? null));
    if (unknown !== undefined) {
      const message = `"${name}" refers to ${JSON.stringify(unknown.slice(0, 80))}, which does not exist.`;
      issues.push({ path: [name], message });
    }
    return [...new Set(bare.filter((id) => id !== null))];
  };
  const playbookIds = await resolve('playbookId', 'playbook', input.playbookId == null ? null : [input.playbookId]);
  const secretIds = await resolve('secretIds', 'secret', input.secretIds);
  const knowledgeIds = await resolve('knowledgeIds', 'note', input.knowledgeIds);
  const attachmentIds = await resolve('attachmentIds', 'attachment', input.attachmentIds);
  issues.push(...agentIssues(context, 'agent', input.agent));
  if (issues.length > 0) {
    throw new DomainError('UNKNOWN_REFERENCE', issues.map((issue) => issue.message).join(' '), issues);
  }
  const playbookId = playbookIds?.[0] ?? null;
  const structuredOutputSchema = input.structuredOutputSchema ?? (await schemaOf(tx, playbookId));
  return { ...input, playbookId, secretIds, knowledgeIds, attachmentIds, structuredOutputSchema };
}

async function schemaOf(tx: Transaction, playbookId: string | null): Promise<unknown> {
  if (playbookId === null) return null;
  const rows = await tx.query<{ schema: unknown }>(
    'select p.structured_output_schema as schema from playbook p where p.id = $1',
    [playbookId],
  );
  return rows[0]?.schema ?? null;
}
