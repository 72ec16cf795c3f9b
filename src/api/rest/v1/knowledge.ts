import { z } from '@hono/zod-openapi';
import { findNames } from '../../../domain/identity/people/find-people.ts';
import { prefixedId } from '../../../domain/ids.ts';
import {
  type CreateNoteInput,
  createNote,
  deleteNote,
  updateNote,
} from '../../../domain/library/knowledge/change-notes.ts';
import { type FolderSummary, getFolderTree } from '../../../domain/library/knowledge/folders.ts';
import { listNotes, type NoteRecord } from '../../../domain/library/knowledge/notes.ts';
import { Reply } from '../../../http/reply.ts';
import type { VersionApi } from '../version-api.ts';
import { organizationOf, time } from './dialect.ts';
import { batch, streamList } from './list-stream.ts';

const pinnedRepo = z.string().nullish().openapi({
  description:
    'null: not pinned; "all": all repositories; "owner/repo", "group/subgroup/repo" or "host/owner/repo": one.',
});

const knowledgeRequest = z
  .object({
    name: z.string(),
    body: z.string().openapi({ description: 'Read by the agent when the knowledge is triggered.' }),
    trigger_description: z.string().openapi({ description: 'When to use it.' }),
    parent_folder_id: z.string().nullish().openapi({ description: 'null: in no folder.' }),
    pinned_repo: pinnedRepo,
    macro: z.string().nullish().openapi({ description: '"!" and letters, digits, "_" or "-".' }),
  })
  .openapi('KnowledgeRequest');

const knowledgeResponse = z
  .object({
    id: z.string(),
    name: z.string(),
    body: z.string(),
    trigger_description: z.string(),
    parent_folder_id: z.string().nullable(),
    pinned_repo: z.string().nullable(),
    macro: z.string().nullable(),
    created_at: z.string().openapi({ format: 'date-time' }),
    created_by: z
      .object({ full_name: z.string(), id: z.string(), image_url: z.string().nullable() })
      .nullable()
      .openapi({ description: 'null: a service key, or a principal that was deleted.' }),
  })
  .openapi('KnowledgeResponse');

const folderResponse = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    created_at: z.string().openapi({ format: 'date-time' }),
  })
  .openapi('KnowledgeFolder');

const knowledgeList = z
  .object({ folders: z.array(folderResponse), knowledge: z.array(knowledgeResponse) })
  .openapi('ListKnowledgeResponse');

function parseNote(body: z.output<typeof knowledgeRequest>): CreateNoteInput {
  return {
    name: body.name,
    body: body.body,
    trigger: body.trigger_description,
    // Fields that are left out are cleared (docs/wire/v1.md#knowledge).
    folderId: body.parent_folder_id ?? null,
    pinnedRepo: body.pinned_repo ?? null,
    macro: body.macro ?? null,
  };
}

type Names = Awaited<ReturnType<typeof findNames>>;

function presentNote(note: NoteRecord, names: Names): z.input<typeof knowledgeResponse> {
  const { userId, serviceUserId } = note;
  const name = names.get(userId ?? serviceUserId ?? '');
  const id = userId === null ? prefixedId('serviceUser', serviceUserId ?? '') : prefixedId('user', userId);
  return {
    id: prefixedId('note', note.id),
    name: note.name,
    body: note.body,
    trigger_description: note.trigger,
    parent_folder_id: note.folderId === null ? null : prefixedId('folder', note.folderId),
    pinned_repo: note.pinnedRepo,
    macro: note.macro,
    created_at: time(note.createdAt),
    created_by: name === undefined ? null : { full_name: name.name, id, image_url: null },
  };
}

function presentFolder(folder: FolderSummary): z.input<typeof folderResponse> {
  return {
    id: prefixedId('folder', folder.id),
    name: folder.name,
    description: folder.description ?? '',
    created_at: time(folder.createdAt),
  };
}

const collection = '/v1/knowledge';
const one = `${collection}/{note_id}` as const;

/** `/v1/knowledge`: the notes of the key's organization. */
export function serveKnowledge(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [collection],
      name: 'listKnowledge',
      successor: 'GET /v3/organizations/{org_id}/knowledge/notes',
      summary: 'List all notes of the organization, newest first, and its folders',
      answer: knowledgeList,
      refusals: [403, 422],
    },
    async ({ context }) => {
      const scope = { organizationId: await organizationOf(context) };
      const { folders } = await getFolderTree(context, scope);
      return streamList(context, {
        read: (request) => listNotes(context, { scope, ...request }, batch),
        present: async (notes) => {
          const names = await findNames(context, notes);
          return notes.map((note) => presentNote(note, names));
        },
        opening: `{"folders":${JSON.stringify(folders.map(presentFolder))},"knowledge":[`,
        closing: ']}',
      });
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [collection],
      name: 'createKnowledge',
      successor: 'POST /v3/organizations/{org_id}/knowledge/notes',
      summary: 'Make a note',
      body: knowledgeRequest,
      answer: knowledgeResponse,
      refusals: [400, 403, 409, 413, 422],
    },
    async ({ context, body }) => {
      const note = await createNote(context, { organizationId: await organizationOf(context) }, parseNote(body));
      return presentNote(note, await findNames(context, [note]));
    },
  );

  api.serve(
    {
      method: 'put',
      paths: [one],
      name: 'updateKnowledge',
      successor: 'PUT /v3/organizations/{org_id}/knowledge/notes/{note_id}',
      summary: 'Replace a note: fields that are left out are cleared',
      body: knowledgeRequest,
      answer: knowledgeResponse,
      refusals: [400, 403, 404, 409, 413, 422],
    },
    async ({ context, body, param }) => {
      const scope = { organizationId: await organizationOf(context) };
      const note = await updateNote(context, param('note_id'), parseNote(body), scope);
      return presentNote(note, await findNames(context, [note]));
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: [one],
      name: 'deleteKnowledge',
      successor: 'DELETE /v3/organizations/{org_id}/knowledge/notes/{note_id}',
      summary: 'Delete a note',
      refusals: [403, 404, 422],
    },
    async ({ context, param }) => {
      await deleteNote(context, param('note_id'), { organizationId: await organizationOf(context) });
      return new Reply(204);
    },
  );
}
