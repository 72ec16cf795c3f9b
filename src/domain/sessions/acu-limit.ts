import { refuse } from '../errors.ts';
import type { OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { wholeAcus } from '../input.ts';

/** The ACUs that a session may use, as inputs say it: whole ones, above 0; null: as many as its organization lets it. */
export const maxAcuLimitSchema = wholeAcus('maxAcuLimit')
  .positive({ error: (issue) => `"maxAcuLimit" must be greater than 0, but was ${issue.input}.` })
  .nullish();

/**
 * The limit that a session keeps as its own: what it asks for, or null. The organization's limit for a session is not
 * copied, so that a change of it holds for every session. LIMIT_EXCEEDED when more is asked for, and when that limit is 0.
 */
export function sessionAcuLimit(
  { maxSessionAcuLimit: max }: Pick<OrganizationRecord, 'maxSessionAcuLimit'>,
  requested: number | null,
): number | null {
  if (max === null || (max > 0 && (requested === null || requested <= max))) return requested;
  const path = ['maxAcuLimit'];
  if (requested === null || max === 0)
    throw refuse(path, 'The organization lets no session use any ACUs.', 'LIMIT_EXCEEDED');
  const message = `"maxAcuLimit" must be at most ${max}, which is the organization’s limit for a session, but was ${requested}.`;
  throw refuse(path, message, 'LIMIT_EXCEEDED');
}
