import { RefusedError } from './refusals.ts';
import { type GatewayRepository, isGitRefusal, type RepositoryAccess } from './repositories.ts';
import type { GitTarget } from './routes.ts';

/** The maximum number of repositories that a refusal names. */
const maxNamed = 10;

/**
 * Finds the repository of a request. Forges ignore case, so it is ignored if no name is exactly the same. Rejects with
 * RefusedError if the session may not use it; the sentence does not tell if it exists.
 */
export async function findRepository(
  access: RepositoryAccess,
  { host, path }: Pick<GitTarget, 'host' | 'path'>,
): Promise<GatewayRepository> {
  const own = access.repositories();
  const atHost = own.filter((each) => each.host.toLowerCase() === host.toLowerCase());
  const [similar, ...others] = atHost.filter((each) => each.path.toLowerCase() === path.toLowerCase());
  const exact = atHost.find((each) => each.path === path);
  if (exact !== undefined) return exact;
  if (similar !== undefined && others.length === 0) return similar;
  const found = await access.findRepository?.(host, path);
  if (found !== undefined && !isGitRefusal(found)) return found;
  const names = own.slice(0, maxNamed).map((each) => `${each.host}/${each.path}`);
  const usable = names.length === 0 ? 'It has no repositories.' : `It may use ${names.join(', ')}.`;
  throw new RefusedError(found?.message ?? `This session may not use ${host}/${path}. ${usable}`, 404);
}
