import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { DomainError, refuse } from '../../../common/errors.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { pageOf } from '../../../domain/pages.ts';
import { attachmentLink } from '../../../domain/sessions/attachments/links.ts';
import { listSessionRepositories } from '../../../domain/sessions/repositories/session-repositories.ts';
import {
  type ChangedFileRecord,
  type ChangesDownload,
  listChangedFiles,
  listRepositoryChanges,
  type RepositoryChangesRecord,
  readFileLists,
} from '../../../domain/sessions/repository-changes/read-changes.ts';
import { requestChanges } from '../../../domain/sessions/repository-changes/request-changes.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import { pageLimits } from '../loaders.ts';
import { listTypes } from './add-list.ts';
import { addMutation } from './add-mutation.ts';
import { storedEnum } from './define-enum.ts';
import { filterInput, requireShortLists } from './list-inputs.ts';
import { boundary, viewsSession } from './needs.ts';
import { sessionIdDescription } from './session-id.ts';
import { SessionRepository } from './session-repositories.ts';
import { Session } from './sessions.ts';

const changedFileStatus = storedEnum('ChangedFileStatus', 'The change of a file between two states of a repository.', {
  ADDED: 'The file is new in the repository.',
  MODIFIED: 'The content or the mode of the file differs.',
  DELETED: 'The file was in the base and is gone.',
  RENAMED: 'The file has a new path, and possibly other content; `oldPath` is the former path.',
  TYPE_CHANGED: 'A file became a symbolic link, or a symbolic link became a file.',
});

const ChangedHunk = builder.objectRef<NonNullable<ChangedFileRecord['hunks']>[number]>('ChangedHunk').implement({
  description: 'Part of a text file that differs, with three unchanged lines before and after it.',
  fields: (t) => ({
    oldStart: t.exposeInt('oldStart', {
      description: 'Number of the first line in the old version, from 1. An empty range has the line before it.',
    }),
    oldLines: t.exposeInt('oldLines', { description: 'Number of lines in the old version.' }),
    newStart: t.exposeInt('newStart', {
      description: 'Number of the first line in the new version, from 1. An empty range has the line before it.',
    }),
    newLines: t.exposeInt('newLines', { description: 'Number of lines in the new version.' }),
    heading: t.exposeString('heading', {
      description: 'Line of code that git shows as the heading of the hunk, often empty.',
    }),
    lines: t.stringList({
      description:
        'Lines without their line feed. The first character is a space for an unchanged line, `+` for a new one, `-` for an old one, or `\\` if the line before has no line feed. The text is as the agent wrote it: it may contain control characters.',
      resolve: ({ lines }) => [...lines],
    }),
  }),
});

/** Characters of all hunks that an operation returns: with escapes, JSON has up to six for each. */
const maxHunks = 64 * 1_048_576;
const returnedHunks = new WeakMap<object, number>();

/** Returns hunks, and counts them. Throws LIMIT_EXCEEDED beyond {@link maxHunks}: an alias returns the same hunks once more. */
function countHunks(operation: object, hunks: NonNullable<ChangedFileRecord['hunks']>) {
  const own = hunks.reduce((sum, { lines }) => lines.reduce((total, line) => total + line.length + 4, sum), 0);
  const total = (returnedHunks.get(operation) ?? 0) + own;
  returnedHunks.set(operation, total);
  if (total <= maxHunks) return [...hunks];
  const message = 'The operation asks for more than 64 MiB of hunks: ask for fewer files.';
  throw new DomainError('LIMIT_EXCEEDED', message);
}

const ChangedFile = builder.objectRef<ChangedFileRecord>('ChangedFile').implement({
  description: 'File of a repository that a session changed.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description:
        'Path of the file in the repository. Bytes that are not UTF-8 are U+FFFD, and the text may contain control characters.',
    }),
    oldPath: t.exposeString('oldPath', {
      nullable: true,
      description: 'Former path of a renamed file; null for all other files.',
    }),
    status: t.field({
      type: changedFileStatus.type,
      description: 'Kind of the change of the file.',
      resolve: ({ status }) => status,
    }),
    oldMode: t.exposeString('oldMode', {
      nullable: true,
      description:
        'Mode of the old version as git writes it, such as `100644`; null if there is none or it is unknown.',
    }),
    mode: t.exposeString('mode', {
      nullable: true,
      description:
        'Mode of the new version as git writes it, such as `100755`; null if there is none or it is unknown.',
    }),
    additions: t.exposeInt('additions', {
      nullable: true,
      description: 'Number of new lines; null if the file is binary or was not read.',
    }),
    deletions: t.exposeInt('deletions', {
      nullable: true,
      description: 'Number of old lines; null if the file is binary or was not read.',
    }),
    isBinary: t.boolean({
      description: 'Whether the content of the file is no text.',
      resolve: ({ isBinary, mode, oldMode }) => isBinary && (mode !== null || oldMode !== null),
    }),
    isTruncated: t.boolean({
      description: 'Whether a limit left out the content or the hunks of the file.',
      resolve: ({ hunks, isBinary, mode, oldMode }) => (isBinary ? mode === null && oldMode === null : hunks === null),
    }),
    size: t.float({
      nullable: true,
      description: 'Size in bytes of the file, or of its last version if it is deleted; null if the size is unknown.',
      resolve: ({ size }) => size,
    }),
    hunks: t.field({
      type: [ChangedHunk],
      nullable: true,
      description:
        'Parts of the file that differ, in order; null if the file is binary or a limit left them out. All hunks of a repository have at most 5 MB. An operation returns at most 64 MiB of them.',
      resolve: ({ hunks }, _args, { loaders }) => (hunks === null ? null : countHunks(loaders, hunks)),
    }),
  }),
});

const ChangedFileFilterInput = filterInput('ChangedFile', (t) => ({
  search: t.string({ description: 'Only files whose path or former path contains this text, regardless of case.' }),
  paths: t.stringList({
    description: 'Only files with one of these paths, for example to read the hunks of files that were listed without.',
  }),
}));

const ChangedFileList = listTypes(ChangedFile, 'ChangedFile');

const linkOf = (domain: Parameters<typeof attachmentLink>[0], download: ChangesDownload | null) =>
  download === null ? null : attachmentLink(domain, download);

const RepositoryChanges = builder.objectRef<RepositoryChangesRecord>('RepositoryChanges').implement({
  description: 'Difference that a session made in one of its repositories, as the service last stored it.',
  fields: (t) => ({
    repository: t.field({
      type: SessionRepository,
      nullable: true,
      description: 'Repository that was changed; null if the viewer may no longer view the session.',
      resolve: async ({ sessionId, position }, _args, { loaders }) =>
        (await loaders.of(listSessionRepositories).load(sessionId))?.find((each) => each.position === position) ?? null,
    }),
    base: t.exposeString('baseCommit', {
      nullable: true,
      description: 'Commit that the session began at; null if the repository was empty.',
    }),
    head: t.exposeString('headCommit', {
      nullable: true,
      description: 'Commit that was checked out in the clone; null if there was none or it was not readable.',
    }),
    fileCount: t.exposeInt('fileCount', {
      description: 'Number of changed files, including those that limits leave out of `files`.',
    }),
    additions: t.exposeInt('additions', { description: 'Number of new lines in all files that were read.' }),
    deletions: t.exposeInt('deletions', { description: 'Number of old lines in all files that were read.' }),
    isTruncated: t.exposeBoolean('isTruncated', {
      description: 'Whether a limit left out files, or the hunks of some.',
    }),
    updatedAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the changes were stored.' }),
    files: t.connection(
      {
        type: ChangedFile,
        description: 'Changed files by path, at most 13,000. The content of at most 3,000 files is compared.',
        args: {
          filter: t.arg({ type: ChangedFileFilterInput, description: 'Filter for the files. All files if omitted.' }),
        },
        resolve: async ({ storageKey, fileCount }, { filter, ...args }, { loaders }) => {
          requireShortLists(filter ?? {});
          const conditions = { search: filter?.search ?? undefined, paths: filter?.paths ?? undefined };
          // Fields with other arguments share the list.
          const stored = (storageKey && (await loaders.of(readFileLists).load(storageKey))) || [];
          const { page, total } = listChangedFiles({ stored, fileCount }, conditions, pageOf(args), pageLimits);
          return toConnection(page, async () => ({ total, isExact: true }));
        },
      },
      ChangedFileList.connection,
    ),
    patchUrl: t.field({
      type: 'URI',
      nullable: true,
      description:
        'Signed URL of the changes as a patch for `git apply`; null if there are none or the patch has more than 16 MiB. Secrets of the session are replaced by asterisks. The URL requires no API key and expires after one hour.',
      resolve: ({ patch }, _args, { domain }) => linkOf(domain, patch),
    }),
    bundleUrl: t.field({
      type: 'URI',
      nullable: true,
      description:
        'Signed URL of the new commits as a bundle for `git fetch`; null for a single turn, if there are no commits, if the bundle has more than 32 MiB, or if the changes contain a secret of the session. The URL requires no API key and expires after one hour.',
      resolve: ({ bundle }, _args, { domain }) => linkOf(domain, bundle),
    }),
  }),
});

builder.objectFields(Session, (t) => ({
  changesUpdatedAt: t.expose('changesAt', {
    type: 'DateTime',
    nullable: true,
    description:
      'Time when the changes of the session’s repositories were last stored; null if they never were. `sessionUpdated` reports it, so that a client can read `changes` again.',
  }),
  changes: t.field({
    type: [RepositoryChanges],
    ...boundary(viewsSession),
    description:
      'Changes of the session’s repositories since the session began, or by one turn. At most 20, in the order of `repositories`; without repositories that were not compared yet. They are stored after each turn; `refreshSessionChanges` stores those of an open turn.',
    args: {
      turn: t.arg.int({
        description: 'Number of a turn, from 1, to read the changes of that turn only. All turns if omitted.',
      }),
      directory: t.arg.string({
        description:
          'Directory of a clone in the workspace, to read the changes of that repository only. All repositories if omitted.',
      }),
    },
    resolve: async ({ id, organizationId }, { turn, directory }, { domain, loaders }) => {
      requirePermission(ofAnySession(domain, 'view').viewer, permissionFor.viewSession, organizationId);
      if (turn != null && turn < 1) throw refuse(['turn'], `"turn" must be at least 1, but was ${turn}.`);
      const all = (await loaders.ofKeys(listRepositoryChanges).load({ sessionId: id, turn: turn ?? 0 })) ?? [];
      if (directory == null) return all;
      const repositories = (await loaders.of(listSessionRepositories).load(id)) ?? [];
      const of = repositories.find((each) => each.directory === directory);
      return all.filter(({ position }) => position === of?.position);
    },
  }),
}));

addMutation('refreshSessionChanges', {
  description:
    'Asks the worker of a session’s open turn to store the changes so far. `Session.changesUpdatedAt` changes when that is done. Does nothing if no turn is open, or if it was asked for in the last 10 seconds.',
  needs: [viewsSession],
  input: (t) => ({ sessionId: t.id({ required: true, description: sessionIdDescription }) }),
  payload: { session: Session },
  act: async (input, { domain }) => ({
    session: await requestChanges(ofAnySession(domain, 'view'), { sessionId: input.sessionId }),
  }),
});
