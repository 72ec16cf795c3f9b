import { refuse } from '../../common/errors.ts';
import type { OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { wholeAcus } from '../input.ts';

/** The ACU limit of a session in inputs: whole ACUs, above 0; null: the organization's limit for a session applies. */
export const maxAcuLimitSchema = wholeAcus('maxAcuLimit')
  .positive({ error: (issue) => `"maxAcuLimit" must be greater than 0, but was ${issue.input}.` })
  .nullish();

/**
 * Returns the limit that the session stores as its own: the requested one, or null. The organization's limit for a
 * session is not copied, so that a change of it applies to every session. Throws LIMIT_EXCEEDED when the request
 * exceeds that limit, and when that limit is 0.
 */
export function sessionAcuLimit(
  { maxSessionAcuLimit: max }: Pick<OrganizationRecord, 'maxSessionAcuLimit'>,
  requested: number | null,
): number | null {
  if (max === null || (max > 0 && (requested === null || requested <= max))) return requested;
  const path = ['maxAcuLimit'];
  if (requested === null || max === 0)
    throw refuse(path, 'The organization’s ACU limit for a session is 0.', 'LIMIT_EXCEEDED');
  const message = `"maxAcuLimit" must be at most ${max}, which is the organization’s limit for a session, but was ${requested}.`;
  throw refuse(path, message, 'LIMIT_EXCEEDED');
}
