import { z } from 'zod';
import { refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { type AuthorizedScope, lockScope } from '../identity/organizations/scope.ts';
import { withLimits } from '../value-limits.ts';

/** Maximum length of a macro, in characters, with its "!". */
export const maxMacroLength = 100;

const syntax = /^![A-Za-z0-9_-]+$/;

/** The macro of a note or a playbook, with its "!". */
export const macroSchema = withLimits(
  z.string().refine((macro) => macro.length <= maxMacroLength && syntax.test(macro), {
    error: (issue) =>
      `"macro" must be "!" followed by letters, digits, "_" or "-", at most ${maxMacroLength} characters in all, but was ${JSON.stringify(String(issue.input).slice(0, 60))}.`,
  }),
  { maxLength: maxMacroLength, pattern: syntax.source },
);

const tables = {
  note: 'knowledge_note m where',
  playbook: 'playbook m where m.deleted_at is null and',
} as const;

/**
 * Throws NOT_UNIQUE if another note, or another playbook, of the scope has the macro, case-insensitive. Serializes the
 * writers of the scope, so that the macro stays free until the transaction ends.
 */
export async function requireFreeMacro(
  tx: Transaction,
  kind: keyof typeof tables,
  scope: AuthorizedScope,
  { id, macro }: { readonly id: string; readonly macro: string },
): Promise<void> {
  await lockScope(tx, scope);
  const taken = await tx.query(
    `select 1 as taken from ${tables[kind]} m.enterprise_id = $1 and coalesce(m.organization_id, '') = coalesce($2::text, '')
        and lower(m.macro) = lower($3::text) and m.id <> $4`,
    [scope.enterpriseId, scope.organizationId, macro, id],
  );
  if (taken.length > 0)
    throw refuse(['macro'], `"macro" is already in use: another ${kind} here has ${macro}.`, 'NOT_UNIQUE');
}
