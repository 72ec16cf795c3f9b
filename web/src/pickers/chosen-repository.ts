/** A repository that a user chose, with the texts of its fields. */
export interface ChosenRepository {
  /** The name or the address, as it was chosen or typed. */
  readonly repository: string;
  /** The branch, tag or commit to start from; empty: the default branch. */
  readonly ref: string;
  /** The branch to work on; empty: a new one. */
  readonly branch: string;
}

/** Maximum number of repositories of a session. */
export const maxRepositories = 20;

/** Adds a repository, unless it is there already. Names are the same regardless of case and of `.git` at the end. */
export function addRepository(list: readonly ChosenRepository[], name: string): readonly ChosenRepository[] {
  const repository = name.trim();
  const key = keyOf(repository);
  if (repository === '' || list.length >= maxRepositories || list.some((each) => keyOf(each.repository) === key)) {
    return list;
  }
  return [...list, { repository, ref: '', branch: '' }];
}

const keyOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');

/** Returns the repositories for the input of a mutation. */
export function toInput(list: readonly ChosenRepository[]) {
  return list.map(({ repository, ref, branch }) => ({
    repository,
    ref: ref.trim() || null,
    branch: branch.trim() || null,
  }));
}

interface Problem {
  readonly message: string;
  readonly path?: readonly string[] | null | undefined;
}

/** Returns the error of a field of one repository: its path ends with the list's name, the position and the field's name. */
export function repositoryError(
  errors: readonly Problem[] | null,
  list: string,
  index: number,
  field: string | null,
): string | null {
  const end = [list, String(index), ...(field === null ? [] : [field])].join(' ');
  return errors?.find(({ path }) => (path ?? []).join(' ').endsWith(end))?.message ?? null;
}

/** Returns true if a text may be the name or the address of a repository: `owner/name`, or a URL. */
export const mayBeRepository = (text: string): boolean => /[^/]\/[^/]/.test(text);
