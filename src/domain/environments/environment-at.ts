import { createHash } from 'node:crypto';
import type { FilesAtCommit } from '../../git/read-files.ts';
import { type DefinitionProblem, type EnvironmentDefinition, maxDefinitionBytes } from './definition.ts';
import { type DefinitionFile, definitionFiles, readDefinition } from './read-definition.ts';

/** Lockfiles at the top of a repository whose changes require another set-up. */
const knownLockfiles = [
  'package-lock.json',
  'pnpm-lock.yaml',
  'yarn.lock',
  'poetry.lock',
  'uv.lock',
  'Cargo.lock',
  'go.sum',
  'Gemfile.lock',
];

/** The environment of a repository at one commit. */
export interface EnvironmentAt {
  readonly commit: string;
  /** The file that defines it; null: the text that is stored in Switchyard. */
  readonly source: DefinitionFile | null;
  /** Null: it has errors. */
  readonly definition: EnvironmentDefinition | null;
  readonly problems: readonly DefinitionProblem[];
  /** The digest of everything in the repository that the result of the set-up depends on. */
  readonly digest: string;
}

/**
 * Reads the environment of a repository at a commit. Null: nothing defines one. Rejects with RepositoryError.
 *
 * @param stored the definition that is stored in Switchyard; null: none is
 */
export async function readEnvironmentAt(files: FilesAtCommit, stored: string | null): Promise<EnvironmentAt | null> {
  const found = await readSource(files, stored);
  if (found === null) return null;
  const { source, definition, problems } = found;
  const paths = [...new Set([...knownLockfiles, ...(definition?.lockfiles ?? [])])].sort();
  const lockfiles = definition === null ? new Map() : await files.read(paths, 0);
  const locks = paths.map((path) => [path, lockfiles.get(path)?.id ?? null]);
  const variables = Object.entries(definition?.env ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const digest = digestOf([definition?.setup, variables, definition?.secrets, locks]);
  return { commit: files.commit, source, definition, problems, digest };
}

/** Returns the digest of a value that JSON can express. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

async function readSource(
  files: FilesAtCommit,
  stored: string | null,
): Promise<Pick<EnvironmentAt, 'source' | 'definition' | 'problems'> | null> {
  if (stored !== null) return { source: null, ...readDefinition(null, stored) };
  const found = await files.read(definitionFiles, maxDefinitionBytes);
  const source = definitionFiles.find((path) => found.has(path));
  const file = source === undefined ? undefined : found.get(source);
  if (source === undefined || file === undefined) return null;
  if (file.text !== null) return { source, ...readDefinition(source, file.text) };
  const message = file.isOrdinary
    ? `The text must have at most ${maxDefinitionBytes} bytes, but has ${file.bytes}.`
    : 'The file must be an ordinary file, not a link or a directory.';
  return { source, definition: null, problems: [{ severity: 'ERROR', file: source, line: null, message }] };
}
