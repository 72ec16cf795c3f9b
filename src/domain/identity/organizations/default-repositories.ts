import { z } from 'zod';
import { refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { text } from '../../input.ts';
import { resolveRepositories } from '../../repositories/resolve-repositories.ts';
import { maxRepositories } from '../../repositories/session-repository-input.ts';
import type { OrganizationRecord } from './use-organization.ts';

/** The default repositories of an organization in an input: references in any form. */
export const defaultRepositoriesSchema = z
  .array(text('defaultRepositories', { min: 1, max: 1_000 }), { error: '"defaultRepositories" must be a list.' })
  .max(maxRepositories, `"defaultRepositories" must have at most ${maxRepositories} items.`);

/**
 * Returns new default repositories of a locked organization, each as host/owner/name; null if nothing changes. Throws
 * UNKNOWN_REFERENCE at the path of a repository that the organization may not use, INVALID_INPUT for one that is named twice.
 */
export async function resolveDefaults(
  context: Context,
  tx: Transaction,
  { id, defaultRepositories: before }: OrganizationRecord,
  references: readonly string[] | undefined,
): Promise<string[] | null> {
  if (references === undefined) return null;
  const pathOf = (n: number) => ['defaultRepositories', String(n)];
  const found = await resolveRepositories(context, tx, id, references, pathOf);
  const names = found.map(({ host, path }) => `${host}/${path}`);
  const repeated = names.findIndex((name, n) => names.indexOf(name) < n);
  if (repeated >= 0) throw refuse(pathOf(repeated), `"defaultRepositories" names ${names[repeated]} twice.`);
  return JSON.stringify(names) === JSON.stringify(before) ? null : names;
}
