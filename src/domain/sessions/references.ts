import type { Context } from '../context.ts';
import { DomainError, type Issue } from '../errors.ts';
import { type IdKind, parseId } from '../ids.ts';
import { findSecrets } from '../secrets/secrets.ts';

/** What a session is made with that stands elsewhere: ids in any form. */
export interface References {
  readonly playbookId?: string | null | undefined;
  readonly secretIds?: readonly string[] | null | undefined;
  readonly knowledgeIds?: readonly string[] | null | undefined;
  readonly attachmentIds?: readonly string[] | null | undefined;
  readonly agent?: string | null | undefined;
}

/**
 * The references as they are kept: bare ids, each once. UNKNOWN_REFERENCE names the first of each kind that is nothing of
 * this organization's.
 */
export async function checkReferences(
  context: Context,
  organizationId: string,
  given: References,
): Promise<{ secretIds: string[] | null }> {
  const issues: Issue[] = [];
  const unknown = (name: keyof References, id: string) => {
    const message = `"${name}" refers to ${JSON.stringify(id.slice(0, 80))}, which does not exist.`;
    issues.push({ path: [name], message });
  };
  // Each of a list, or null for the one that is unknown.
  const known = async (
    name: keyof References,
    kind: IdKind,
    ids: readonly string[] | null | undefined,
    find: (bare: readonly string[]) => Promise<readonly ({ readonly organizationId: string | null } | null)[]>,
  ): Promise<string[] | null> => {
    if (ids == null) return null;
    const bare = ids.map((id) => parseId(kind, id) ?? '');
    const found = ids.length === 0 ? [] : await find(bare);
    const first = ids.find((_id, n) => found[n]?.organizationId !== organizationId);
    if (first !== undefined) unknown(name, first);
    return [...new Set(bare)];
  };
  const secretIds = await known('secretIds', 'secret', given.secretIds, (ids) => findSecrets(context, ids));
  // Notes, playbooks and attachments cannot be made yet, so that no id of one can be known.
  for (const name of ['playbookId', 'knowledgeIds', 'attachmentIds'] as const) {
    const [first] = [given[name] ?? []].flat();
    if (first !== undefined) unknown(name, first);
  }
  if (given.agent != null && !context.agentProfiles.has(given.agent)) {
    const names = [...context.agentProfiles.keys()].join(', ');
    const message = `"agent" must be one of ${names}, but was ${JSON.stringify(given.agent.slice(0, 80))}.`;
    issues.push({ path: ['agent'], message });
  }
  if (issues.length > 0) {
    throw new DomainError('UNKNOWN_REFERENCE', issues.map((issue) => issue.message).join(' '), issues);
  }
  return { secretIds };
}
