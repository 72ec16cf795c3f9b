import { permissionFor } from '../../../auth/permissions.ts';
import { requirePermission } from '../../../auth/viewer.ts';
import { DomainError, notFound } from '../../../common/errors.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { parseId, prefixedId } from '../../../domain/ids.ts';
import { badCursor, type PageRequest, pageOf } from '../../../domain/pages.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { workspaceFileLink } from '../../../domain/sessions/workspace-files/file-links.ts';
import { findFilesByName, maxFoundFiles } from '../../../domain/sessions/workspace-files/find-by-name.ts';
import {
  checkpointOfCursor,
  listWorkspaceFiles,
  missingIn,
  type WorkspaceFileRecord,
} from '../../../domain/sessions/workspace-files/list-files.ts';
import {
  type OpenedWorkspace,
  openWorkspaces,
  type WorkspaceKey,
} from '../../../domain/sessions/workspace-files/open-workspace.ts';
import { readWorkspaceText } from '../../../domain/sessions/workspace-files/read-text.ts';
import { parseWorkspacePath } from '../../../domain/sessions/workspace-files/workspace-path.ts';
import { maxSearchLength } from '../../../domain/text-search.ts';
import { builder } from '../builder.ts';
import { toConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { type FindByKey, pageLimits } from '../loaders.ts';
import { listTypes } from './add-list.ts';
import { storedEnum } from './define-enum.ts';
import { boundary, needs, viewsSession } from './needs.ts';
import { Session } from './sessions.ts';

const sessionFileType = storedEnum('SessionFileType', 'Type of an entry of a directory.', {
  FILE: 'The entry is a regular file.',
  DIRECTORY: 'The entry is a directory of files.',
  LINK: 'The entry is a symbolic link, which is never followed.',
});

const missingFilesReason = storedEnum('MissingFilesReason', 'Reason why a checkpoint lacks a part of the workspace.', {
  UNREADABLE: 'The service may not read the part.',
  CHANGING: 'The part changed during each attempt to read it.',
  TOO_LARGE: 'The part exceeds a limit of the service.',
  SPECIAL: 'The part is a pipe, a socket or a device.',
});

const MissingFiles = builder.objectRef<OpenedWorkspace['missing'][number]>('MissingFiles').implement({
  description: 'Part of the workspace that a checkpoint lacks.',
  fields: (t) => ({
    path: t.exposeString('path', {
      description: 'Path of the file or the directory in the workspace. Bytes that are not UTF-8 are U+FFFD.',
    }),
    reason: t.field({
      type: missingFilesReason.type,
      description: 'Reason why the part is missing.',
      resolve: ({ reason }) => reason,
    }),
    sizeBytes: t.float({
      nullable: true,
      description: 'Size of the part in bytes; null if it is unknown.',
      resolve: ({ bytes }) => bytes,
    }),
    fileCount: t.int({ description: 'Number of files in the part.', resolve: ({ files }) => files }),
  }),
});

/** Bytes of the files whose texts an operation returns: with escapes, JSON has up to six characters for each. */
const maxTexts = 16 * 1_048_576;
const returnedTexts = new WeakMap<object, number>();

// Counted before a file is read: an alias returns the same text once more.
function countText(operation: object, { type, size }: WorkspaceFileRecord): void {
  if (type !== 'FILE') return;
  const total = (returnedTexts.get(operation) ?? 0) + size;
  returnedTexts.set(operation, total);
  if (total <= maxTexts) return;
  throw new DomainError('LIMIT_EXCEEDED', 'The operation asks for more than 16 MiB of texts: ask for fewer files.');
}

/** The cost of each file that a search may find, in items: the search may read all names of a workspace. */
const itemsOfFoundFile = 5;

const linkTo = (
  domain: GraphqlContext['domain'],
  { sessionId, checkpointId }: OpenedWorkspace,
  path: string,
  isArchive: boolean,
) => workspaceFileLink(domain, { sessionId, checkpointId, path, isArchive });

const SessionFile = builder.objectRef<WorkspaceFileRecord>('SessionFile').implement({
  description: 'File, directory or link in the workspace of a session, as of a checkpoint.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description:
        'Name in its directory; empty for the workspace itself. A byte that is not UTF-8 is written as `\\xNN`, and the text may contain control characters.',
    }),
    path: t.exposeString('path', {
      description: 'Path in the workspace, for the arguments `path` of `Session.files` and `Session.file`.',
    }),
    type: t.field({
      type: sessionFileType.type,
      description: 'Type of the entry: a file, a directory or a link.',
      resolve: ({ type }) => type,
    }),
    sizeBytes: t.float({
      nullable: true,
      description: 'Size of a file in bytes; null for a directory or a link.',
      resolve: ({ type, size }) => (type === 'FILE' ? size : null),
    }),
    mode: t.string({
      description: 'Permissions in octal, such as `0644`.',
      resolve: ({ mode }) => mode.toString(8).padStart(4, '0'),
    }),
    modifiedAt: t.expose('modifiedAt', { type: 'DateTime', description: 'Time of the last modification.' }),
    target: t.exposeString('target', {
      nullable: true,
      description: 'Path that a link leads to, which need not exist or be in the workspace; null for all others.',
    }),
    text: t.string({
      nullable: true,
      description:
        'Text of a file; null for a file of more than 1 MiB or that is not UTF-8 text, and for a directory or a link. It is as the agent wrote it: secrets are not masked. An operation returns at most 16 MiB of texts.',
      resolve: async (file, _args, { loaders }) => {
        countText(loaders, file);
        return readWorkspaceText(file);
      },
    }),
    checkpointId: t.string({
      description: 'REST id of the checkpoint that the entry is of, which begins with `checkpoint-`.',
      resolve: ({ workspace }) => prefixedId('checkpoint', workspace.checkpointId),
    }),
    savedAt: t.field({
      type: 'DateTime',
      description: 'Time when the checkpoint was saved.',
      resolve: ({ workspace }) => workspace.savedAt,
    }),
    missing: t.field({
      type: [MissingFiles],
      description: 'Parts of a directory that are not in the checkpoint; none for a file or a link.',
      resolve: (file) => missingIn(file),
    }),
    downloadUrl: t.field({
      type: 'URI',
      nullable: true,
      description:
        'Signed URL of a file, or of a directory as a tar archive; null for a link. The URL requires no API key, acts in the name of the key that asked for it, and expires after ten minutes.',
      resolve: ({ workspace, path, type }, _args, { domain }) =>
        type === 'LINK' ? null : linkTo(domain, workspace, path, type === 'DIRECTORY'),
    }),
  }),
});

const SessionFileList = listTypes(SessionFile, 'SessionFile');

interface FileListArgs extends PageRequest {
  readonly checkpointId?: string | null | undefined;
}

const checkpointArgument =
  'Global ID or REST id of a checkpoint of the session. Defaults to the newest one, or to the one of the cursor.';

function parseCheckpoint(text: string | null | undefined): string | null {
  if (text == null) return null;
  const id = parseId('checkpoint', text);
  if (id === null) throw notFound('checkpoint');
  return id;
}

// An error in place of a workspace rejects its own field.
const findWorkspaces = openWorkspaces as FindByKey<WorkspaceKey, OpenedWorkspace>;

function open({ id, organizationId }: SessionRecord, checkpointId: string | null, context: GraphqlContext) {
  const { viewer } = ofAnySession(context.domain, 'view');
  requirePermission(viewer, permissionFor.viewSession, organizationId);
  return context.loaders.ofKeys(findWorkspaces).load({ sessionId: id, checkpointId });
}

async function openPage(session: SessionRecord, { checkpointId, ...request }: FileListArgs, context: GraphqlContext) {
  const named = parseCheckpoint(checkpointId);
  const id = named ?? checkpointOfCursor(request);
  return open(session, id, context).catch((error: unknown) => {
    // The checkpoint of the earlier pages is gone, or the cursor is one of another session.
    const isGone = named === null && id !== null && error instanceof DomainError && error.code === 'NOT_FOUND';
    throw isGone ? badCursor(request.after == null ? 'before' : 'after', request.after ?? request.before ?? '') : error;
  });
}

builder.objectFields(Session, (t) => ({
  files: t.connection(
    {
      type: SessionFile,
      ...boundary(viewsSession),
      description:
        'Files of a directory of the workspace as of a checkpoint: directories first, then by name. They can be read whether or not a worker has the workspace. Empty if no checkpoint has been saved yet. The agent’s home is never included.',
      args: {
        path: t.arg.string({
          description: 'Path of the directory in the workspace. Defaults to the workspace itself.',
        }),
        checkpointId: t.arg.id({ description: checkpointArgument }),
      },
      resolve: async (session, { path, checkpointId, ...args }, context) => {
        const names = parseWorkspacePath(path ?? '');
        const request = pageOf(args);
        const workspace = await openPage(session, { ...request, checkpointId }, context);
        const { page, total } = listWorkspaceFiles(workspace, names, request, pageLimits);
        return toConnection(page, async () => ({ total, isExact: true }));
      },
    },
    SessionFileList.connection,
  ),
  file: t.field({
    type: SessionFile,
    nullable: true,
    extensions: needs(viewsSession),
    description:
      'File, directory or link of the workspace as of a checkpoint; null if there is none at the path. An empty path is the workspace itself.',
    args: {
      path: t.arg.string({ required: true, description: 'Path of the entry in the workspace.' }),
      checkpointId: t.arg.id({
        description: 'Global ID or REST id of a checkpoint of the session. Defaults to the newest one.',
      }),
    },
    resolve: async (session, { path, checkpointId }, context) => {
      const names = parseWorkspacePath(path);
      const workspace = await open(session, parseCheckpoint(checkpointId), context);
      const entry = workspace?.tree.find(names);
      return workspace && entry ? { ...entry, workspace } : null;
    },
  }),
  filesByName: t.field({
    type: [SessionFile],
    ...boundary(viewsSession, { items: 'count', weight: itemsOfFoundFile }),
    description:
      'Files, directories and links of the workspace whose names or paths match a text, the best match first, as of the newest checkpoint. Empty if no checkpoint has been saved yet. What git ignores and what is in `.git` or `node_modules` is found only in the directory that the text names before its last slash. The first 300,000 entries are searched.',
    args: {
      name: t.arg.string({
        required: true,
        description:
          'Characters that the path has in this order, in upper or lower case: `ind` finds `src/index.ts`. A path with a slash at its end finds what is in the directory; an empty text, what is in the workspace itself.',
        extensions: { limits: { maxLength: maxSearchLength } },
      }),
      count: t.arg.int({
        defaultValue: maxFoundFiles,
        description: `Maximum number of entries to return, 1 to ${maxFoundFiles}. Defaults to ${maxFoundFiles}.`,
        extensions: { limits: { min: 1, max: maxFoundFiles } },
      }),
    },
    resolve: async (session, { name, count }, context) => {
      const workspace = await open(session, null, context);
      if (workspace === null) return [];
      const found = await findFilesByName(workspace.tree, name, count ?? maxFoundFiles);
      return found.map((entry) => ({ ...entry, workspace }));
    },
  }),
}));
