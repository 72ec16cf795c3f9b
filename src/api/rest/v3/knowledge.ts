import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { createNote, deleteNote, updateNote } from '../../../domain/library/knowledge/change-notes.ts';
import { findFolderPaths } from '../../../domain/library/knowledge/folder-paths.ts';
import { type FolderSummary, getFolderTree } from '../../../domain/library/knowledge/folders.ts';
import { getNote, listNotes, type NoteFilter, type NoteRecord } from '../../../domain/library/knowledge/notes.ts';
import { textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';
import { accessTypeOf, accessTypeParam, accessTypeSchema, type RouteScope, routeScopes } from './scopes.ts';

const noteCreateRequest = z
  .object({
    name: z.string(),
    trigger: z.string().openapi({ description: 'When an agent should read it.' }),
    body: z.string(),
    folder_id: z.string().nullish().openapi({ description: 'null: in no folder.' }),
    pinned_repo: z.string().nullish().openapi({
      description:
        'null: not pinned; "all": all repositories; "owner/repo", "group/subgroup/repo" or "host/owner/repo": one.',
    }),
    is_enabled: z.boolean().nullish(),
  })
  .openapi('KnowledgeNoteCreateRequest');

const noteResponse = z
  .object({
    note_id: z.string(),
    access_type: accessTypeSchema,
    org_id: z.string().nullable(),
    name: z.string(),
    trigger: z.string(),
    body: z.string(),
    folder_id: z.string().nullable(),
    folder_path: z.string().openapi({ description: 'The folders’ names, with "/" between; empty: in none.' }),
    pinned_repo: z.string().nullable(),
    macro: z.string().nullable(),
    is_enabled: z.boolean(),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .openapi('KnowledgeNoteResponse');

const folderTreeResponse = z
  .object({
    folders: z.array(
      z
        .object({
          folder_id: z.string(),
          parent_folder_id: z.string().nullable(),
          name: z.string(),
          path: z.string(),
          note_count: z.int(),
        })
        .openapi('FolderSummary'),
    ),
    root_note_count: z.int(),
  })
  .openapi('FolderTreeResponse');

const listQuery = {
  ...pageQuery,
  search: textParam('search', { description: 'Part of the name, the trigger or the body.' }),
  folder_path: textParam('folder_path', { description: 'Notes in this folder itself; "/": in none.' }),
  pinned_repo: textParam('pinned_repo', {
    description: 'Notes that are pinned to this: "all", or a repository as the note has it.',
  }),
};

function parseFilter(query: {
  search?: string | undefined;
  folder_path?: string | undefined;
  pinned_repo?: string | undefined;
  access_type?: string | undefined;
}): NoteFilter {
  const { search, folder_path: folderPath, pinned_repo: pinnedRepo, access_type: accessType } = query;
  return { search, folderPath, pinnedRepo, accessType: accessTypeOf(accessType) };
}

function parseNote(body: z.output<typeof noteCreateRequest>) {
  return {
    name: body.name,
    trigger: body.trigger,
    body: body.body,
    // Fields that are left out are cleared, except is_enabled, which has no empty value (docs/wire/v3.md#knowledge).
    folderId: body.folder_id ?? null,
    pinnedRepo: body.pinned_repo ?? null,
    isEnabled: body.is_enabled,
  };
}

function presentNote(note: NoteRecord, paths: ReadonlyMap<string, string>): z.input<typeof noteResponse> {
  const { organizationId, folderId } = note;
  return {
    note_id: prefixedId('note', note.id),
    access_type: organizationId === null ? 'enterprise' : 'org',
    org_id: organizationId === null ? null : prefixedId('organization', organizationId),
    name: note.name,
    trigger: note.trigger,
    body: note.body,
    folder_id: folderId === null ? null : prefixedId('folder', folderId),
    folder_path: paths.get(folderId ?? '') ?? '',
    pinned_repo: note.pinnedRepo,
    macro: note.macro,
    is_enabled: note.isEnabled,
    created_at: time(note.createdAt),
    updated_at: time(note.updatedAt),
  };
}

async function present(context: Context, note: NoteRecord): Promise<z.input<typeof noteResponse>> {
  return presentNote(note, await findFolderPaths(context, [note]));
}

function presentFolder(folder: FolderSummary) {
  return {
    folder_id: prefixedId('folder', folder.id),
    parent_folder_id: folder.parentId === null ? null : prefixedId('folder', folder.parentId),
    name: folder.name,
    path: folder.path,
    note_count: folder.noteCount,
  };
}

/** `/v3/organizations/{org_id}/knowledge` and `/v3/enterprise/knowledge`. */
export function serveKnowledge(api: VersionApi): void {
  for (const scope of routeScopes) {
    serveNotes(api, scope);
    serveNote(api, scope);
  }
}

function serveNotes(api: VersionApi, { prefix, word, of, scopeOf, notThere }: RouteScope): void {
  api.serve(
    {
      method: 'get',
      paths: [`${prefix}/knowledge/folders`],
      name: `list${word}KnowledgeFolders`,
      summary: `The tree of the folders ${of}, with the number of notes in each`,
      answer: folderTreeResponse,
      refusals: [403, ...notThere],
    },
    async ({ context, param }) => {
      const tree = await getFolderTree(context, scopeOf(param));
      return { folders: tree.folders.map(presentFolder), root_note_count: tree.rootNoteCount };
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [`${prefix}/knowledge/notes`],
      name: `list${word}Notes`,
      summary: `List the notes ${of}, newest first`,
      query: z.object({ ...listQuery, access_type: accessTypeParam }),
      answer: pageOf(noteResponse),
      refusals: [403, ...notThere, 422],
    },
    async ({ context, query, param }) => {
      const { first, after } = query;
      const request = { scope: scopeOf(param), filter: parseFilter(query), first, after };
      const notes = await listNotes(context, request, page);
      const paths = await findFolderPaths(context, notes.items);
      return presentPage(notes, (note) => presentNote(note, paths));
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [`${prefix}/knowledge/notes`],
      name: `create${word}Note`,
      summary: `Make a note ${of}`,
      body: noteCreateRequest,
      answer: noteResponse,
      refusals: [400, 403, ...notThere, 413, 422],
    },
    async ({ context, body, param }) => present(context, await createNote(context, scopeOf(param), parseNote(body))),
  );
}

function serveNote(api: VersionApi, { prefix, word, of, scopeOf }: RouteScope): void {
  const path = `${prefix}/knowledge/notes/{note_id}` as const;
  api.serve(
    {
      method: 'get',
      paths: [path],
      name: `get${word}Note`,
      summary: `Read a note ${of}`,
      answer: noteResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => present(context, await getNote(context, param('note_id'), scopeOf(param))),
  );

  api.serve(
    {
      method: 'put',
      paths: [path],
      name: `update${word}Note`,
      summary: `Replace a note ${of}: a folder or repository that is left out is cleared`,
      body: noteCreateRequest,
      answer: noteResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, body, param }) =>
      present(context, await updateNote(context, param('note_id'), parseNote(body), scopeOf(param))),
  );

  api.serve(
    {
      method: 'delete',
      paths: [path],
      name: `delete${word}Note`,
      summary: `Delete a note ${of}`,
      answer: noteResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => present(context, await deleteNote(context, param('note_id'), scopeOf(param))),
  );
}
