import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import type { OrganizationRecord } from '../../identity/organizations/use-organization.ts';
import {
  findUnknownReferences,
  hasHadGitConnections,
  resolveRepositories,
  type UsableRepository,
} from '../../repositories/resolve-repositories.ts';
import { maxRepositories, type SessionRepositoryInput } from '../../repositories/session-repository-input.ts';
import { type InheritedRepository, readInheritedRepositories } from './inherited-repositories.ts';
import { readRepositoryTokens } from './repository-tokens.ts';

/** The input of a new session's repository. */
interface WantedRepository extends SessionRepositoryInput {
  /** The repository whose clone is in the files that the session begins with; missing: it is not there. */
  readonly inherited?: InheritedRepository;
}

/** A repository that a new session works on, and what was asked for it. */
export interface ChosenRepository {
  readonly wanted: WantedRepository;
  readonly usable: UsableRepository;
}

/** The sources of a new session's repositories. */
export interface RepositorySources {
  /** Null: none were named; empty: the session gets none. */
  readonly named: readonly SessionRepositoryInput[] | null;
  /** Like `named`, but only text in an enterprise that never had a git connection; null or empty: none were named. */
  readonly names: readonly string[] | null;
  /** Text whose `@owner/name` tokens count; null: none do. */
  readonly prompt: string | null;
  /** Unprefixed id of the session whose agent starts this one; null: none. */
  readonly parentId: string | null;
  /** The repositories of the files that it begins with; null: it begins with none. */
  readonly inherited: readonly InheritedRepository[] | null;
}

/**
 * Returns the repositories of a new session: the named ones, or else those that the prompt names as `@owner/name`, those of
 * the files that it begins with, the parent's, or the organization's default. A repository whose clone is in these files
 * keeps the clone and its directory. Only an unknown name in the input is an error, UNKNOWN_REFERENCE at its
 * path: a token is plain text if it names no repository of the organization, and a parent's or a default repository is
 * left out after its permission was revoked.
 */
export async function chooseRepositories(
  context: Context,
  tx: Transaction,
  organization: OrganizationRecord,
  sources: RepositorySources,
): Promise<ChosenRepository[]> {
  const chosen = await chooseNew(context, tx, organization, sources);
  const clones = new Map(
    (sources.inherited ?? []).filter(({ isCloned }) => isCloned).map((each) => [each.repositoryId, each]),
  );
  return chosen.map(({ wanted, usable }) => {
    const inherited = clones.get(usable.repositoryId);
    return inherited
      ? { wanted: { ...wanted, directory: inherited.directory, inherited }, usable }
      : { wanted, usable };
  });
}

async function chooseNew(
  context: Context,
  tx: Transaction,
  { id: organizationId, enterpriseId, defaultRepositories }: OrganizationRecord,
  { named, names, prompt, parentId, inherited }: RepositorySources,
): Promise<ChosenRepository[]> {
  if (named !== null) return resolve(context, tx, organizationId, named);
  if (names?.length && (await hasHadGitConnections(tx, enterpriseId))) {
    const wanted = [...new Set(names)].map((repository) => ({ repository }));
    return resolve(context, tx, organizationId, wanted, 'repos');
  }
  const usable = (wanted: readonly SessionRepositoryInput[]) => keepUsable(context, tx, organizationId, wanted);
  const tokens = prompt === null ? [] : readRepositoryTokens(prompt).slice(0, maxTokens);
  const byPrompt = await usable(tokens.map((repository) => ({ repository })));
  if (byPrompt.length > 0) return byPrompt;
  if (inherited !== null) return usable(inherited.map(toInput));
  if (parentId !== null) return usable((await readInheritedRepositories(tx, parentId)).map(toInput));
  return usable(defaultRepositories.map((repository) => ({ repository })));
}

/** Maximum number of tokens of a prompt that are looked up. */
const maxTokens = 100;

async function keepUsable(
  context: Context,
  tx: Transaction,
  organizationId: string,
  wanted: readonly SessionRepositoryInput[],
): Promise<ChosenRepository[]> {
  if (wanted.length === 0) return [];
  const references = wanted.map(({ repository }) => repository);
  const unknown = new Set(await findUnknownReferences(tx, organizationId, references));
  const known = wanted.filter(({ repository }) => !unknown.has(repository));
  const found = await resolve(context, tx, organizationId, known);
  const first = new Map(found.toReversed().map((each) => [each.usable.repositoryId, each]));
  return found.filter((each) => first.get(each.usable.repositoryId) === each).slice(0, maxRepositories);
}

async function resolve(
  context: Context,
  tx: Transaction,
  organizationId: string,
  wanted: readonly SessionRepositoryInput[],
  argument: 'repositories' | 'repos' = 'repositories',
): Promise<ChosenRepository[]> {
  const references = wanted.map(({ repository }) => repository);
  const pathOf = (n: number) => [argument, String(n), ...(argument === 'repositories' ? ['repository'] : [])];
  const found = await resolveRepositories(context, tx, organizationId, references, pathOf);
  return found.flatMap((usable, n) => {
    const each = wanted[n];
    return each ? [{ wanted: each, usable }] : [];
  });
}

// The branch is the other session's own.
const toInput = ({ repositoryId, requestedRef, pullRequestNumber, directory }: InheritedRepository) => ({
  repository: repositoryId,
  ref: requestedRef,
  pullRequest: pullRequestNumber,
  directory,
});
