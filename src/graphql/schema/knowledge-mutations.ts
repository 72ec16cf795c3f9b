import { globalId } from '../../domain/ids.ts';
import { createNote, deleteNote, type NoteChange, updateNote } from '../../domain/knowledge/change-notes.ts';
import type { NoteRecord } from '../../domain/knowledge/notes.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { KnowledgeNote } from './knowledge.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  idempotencyKeyOf,
  payloadType,
} from './payloads.ts';
import { readScope, ScopeInput, scopeDescription } from './places.ts';

const noteDescriptions = {
  knowledgeNoteId: 'The note: its global ID, or any form of its id.',
  name: 'What to call it: 1 to 10,000 characters.',
  body: 'What there is to know: at most 100,000 characters.',
  trigger: 'When an agent should read it: at most 10,000 characters.',
  folderId: 'A folder of the same place, by any form of its id; null: in none.',
  pinnedRepo: 'A repository as "owner/repo", "group/subgroup/repo" or "host/owner/repo", or "all"; null: not pinned.',
  macro: 'Its shortcut: "!" and letters, digits, "_" or "-". No two notes of a place have the same. Null: none.',
  isEnabled: 'Whether agents are told of it.',
} as const;

const CreateKnowledgeNoteInput = builder.inputType('CreateKnowledgeNoteInput', {
  description: 'What a note is made from.',
  fields: (t) => ({
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    name: t.string({ required: true, description: noteDescriptions.name }),
    body: t.string({ required: true, description: noteDescriptions.body }),
    trigger: t.string({ required: true, description: noteDescriptions.trigger }),
    folderId: t.id({ description: noteDescriptions.folderId }),
    pinnedRepo: t.string({ description: noteDescriptions.pinnedRepo }),
    macro: t.string({ description: noteDescriptions.macro }),
    isEnabled: t.boolean({ defaultValue: true, description: noteDescriptions.isEnabled }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateKnowledgeNotePayload = payloadType<{ knowledgeNote: NoteRecord }>(
  'CreateKnowledgeNotePayload',
  'A note that was made.',
  (t) => ({
    knowledgeNote: t.expose('knowledgeNote', { type: KnowledgeNote, nullable: true, description: 'The note.' }),
  }),
);

const UpdateKnowledgeNoteInput = builder.inputType('UpdateKnowledgeNoteInput', {
  description: 'How a note is to change: what is left out stays.',
  fields: (t) => ({
    knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }),
    name: t.string({ description: `${noteDescriptions.name} Not null.` }),
    body: t.string({ description: `${noteDescriptions.body} Not null.` }),
    trigger: t.string({ description: `${noteDescriptions.trigger} Not null.` }),
    folderId: t.id({ description: noteDescriptions.folderId }),
    pinnedRepo: t.string({ description: noteDescriptions.pinnedRepo }),
    macro: t.string({ description: noteDescriptions.macro }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const notePayload = (name: string, description: string) =>
  payloadType<{ knowledgeNote: NoteRecord }>(name, description, (t) => ({
    knowledgeNote: t.expose('knowledgeNote', {
      type: KnowledgeNote,
      nullable: true,
      description: 'The note after the change; null beside user errors.',
    }),
  }));

const oneNote = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });

const DeleteKnowledgeNoteInput = builder.inputType('DeleteKnowledgeNoteInput', {
  description: 'The note that is to be deleted.',
  fields: (t) => ({
    knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteKnowledgeNotePayload = payloadType<{ deletedKnowledgeNoteId: string }>(
  'DeleteKnowledgeNotePayload',
  'A note that was deleted.',
  (t) => ({
    deletedKnowledgeNoteId: t.expose('deletedKnowledgeNoteId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of what is gone.',
    }),
  }),
);

addMutation('createKnowledgeNote', {
  input: CreateKnowledgeNoteInput,
  payload: CreateKnowledgeNotePayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Makes a note.',
  act: async (input, context, info) => {
    const { scope, idempotencyKey: _key, clientMutationId: _mutation, ...note } = input;
    return {
      knowledgeNote: await createNote(context.domain, readScope(scope), note, {
        idempotencyKey: idempotencyKeyOf(context, input, info),
      }),
    };
  },
});

addMutation('updateKnowledgeNote', {
  input: UpdateKnowledgeNoteInput,
  payload: notePayload('UpdateKnowledgeNotePayload', 'The note that was changed.'),
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Changes a note.',
  act: async (input, { domain }) => {
    const { knowledgeNoteId, clientMutationId: _mutation, ...change } = input;
    return { knowledgeNote: await updateNote(domain, knowledgeNoteId, change as NoteChange) };
  },
});

addMutation('enableKnowledgeNote', {
  input: oneNote('EnableKnowledgeNoteInput', 'The note that agents are to be given.'),
  payload: notePayload('EnableKnowledgeNotePayload', 'The note that was enabled.'),
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Gives a note to agents again. Does nothing if it is enabled.',
  act: async (input, { domain }) => ({
    knowledgeNote: await updateNote(domain, input.knowledgeNoteId, { isEnabled: true }),
  }),
});

addMutation('disableKnowledgeNote', {
  input: oneNote('DisableKnowledgeNoteInput', 'The note that agents are no longer to be given.'),
  payload: notePayload('DisableKnowledgeNotePayload', 'The note that was disabled.'),
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Keeps a note from agents, without deleting it. Does nothing if it is disabled.',
  act: async (input, { domain }) => ({
    knowledgeNote: await updateNote(domain, input.knowledgeNoteId, { isEnabled: false }),
  }),
});

addMutation('deleteKnowledgeNote', {
  input: DeleteKnowledgeNoteInput,
  payload: DeleteKnowledgeNotePayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Deletes a note.',
  act: async (input, { domain }) => {
    const { id } = await deleteNote(domain, input.knowledgeNoteId, undefined, input);
    return { deletedKnowledgeNoteId: globalId('note', id) };
  },
});
