import type { Context } from '../../context.ts';
import type { BeginningData } from '../../sessions/checkpoints/beginning.ts';

const beginningOf = `
  select data->'beginning' as beginning from log_entry
   where session_id = $1 and kind = 'NOTICE' and data ? 'beginning' order by seq limit 1`;

/**
 * Reads the branches of the clones with which a session began, by their directories: those of the session that the files are of. Empty
 * for a session that began with no files.
 */
export async function readFormerBranches(
  { store }: Pick<Context, 'store'>,
  sessionId: string,
): Promise<ReadonlyMap<string, string>> {
  const [row] = await store.query<{ beginning: BeginningData }>(beginningOf, [sessionId]);
  return new Map(row?.beginning.clones.map(({ directory, branch }) => [directory, branch]));
}
