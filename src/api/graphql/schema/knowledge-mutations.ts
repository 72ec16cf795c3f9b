import { globalId } from '../../../domain/ids.ts';
import { createNote, deleteNote, type NoteChange, updateNote } from '../../../domain/library/knowledge/change-notes.ts';
import type { NoteRecord } from '../../../domain/library/knowledge/notes.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { KnowledgeNote } from './knowledge.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  keyedPayloadType,
  payloadType,
} from './payloads.ts';
import { readScope, ScopeInput, scopeDescription } from './scope-input.ts';

const noteDescriptions = {
  knowledgeNoteId: 'Global ID or REST id of the note (`note-…`).',
  name: 'Name of the note: 1 to 10,000 characters.',
  body: 'Text of the note: 1 to 100,000 characters.',
  trigger: 'Description of the situation in which an agent should read the note: 1 to 10,000 characters.',
  folderId: 'Global ID or REST id of a folder with the same owner (`folder-…`); null for no folder.',
  pinnedRepo:
    'Repository to pin the note to, as `owner/repo`, `group/subgroup/repo` or `host/owner/repo`, or `all` for every repository; null for none.',
  macro:
    'Shortcut of the note: "!" and letters, digits, "_" or "-", at most 100 characters. Unique among the notes of the owner, ignoring case. Null for none.',
  isEnabled: 'Whether agents are given the note. Defaults to true.',
} as const;

const CreateKnowledgeNoteInput = builder.inputType('CreateKnowledgeNoteInput', {
  description: 'Properties of the knowledge note to create.',
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

/** The payload of createKnowledgeNote. */
export const CreateKnowledgeNotePayload = keyedPayloadType<{ knowledgeNote: NoteRecord }>(
  'CreateKnowledgeNotePayload',
  'Result of creating a knowledge note.',
  (t) => ({
    knowledgeNote: t.expose('knowledgeNote', {
      type: KnowledgeNote,
      nullable: true,
      description: 'The new note; null if there are user errors.',
    }),
  }),
);

const UpdateKnowledgeNoteInput = builder.inputType('UpdateKnowledgeNoteInput', {
  description: 'Changes to a knowledge note. Fields that are left out keep their values.',
  fields: (t) => ({
    knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }),
    name: t.string({ description: `${noteDescriptions.name} Must not be null.` }),
    body: t.string({ description: `${noteDescriptions.body} Must not be null.` }),
    trigger: t.string({ description: `${noteDescriptions.trigger} Must not be null.` }),
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
      description: 'The note after the change; null if there are user errors.',
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
  description: 'The knowledge note to delete.',
  fields: (t) => ({
    knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteKnowledgeNotePayload = payloadType<{ deletedKnowledgeNoteId: string }>(
  'DeleteKnowledgeNotePayload',
  'Result of deleting a knowledge note.',
  (t) => ({
    deletedKnowledgeNoteId: t.expose('deletedKnowledgeNoteId', {
      type: 'ID',
      nullable: true,
      description: 'Global ID of the deleted note; null if there are user errors.',
    }),
  }),
);

addMutation('createKnowledgeNote', {
  input: CreateKnowledgeNoteInput,
  payload: CreateKnowledgeNotePayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Creates a knowledge note in an organization or in the enterprise.',
  act: async (input, context, options) => {
    const { scope, idempotencyKey: _key, clientMutationId: _mutation, ...note } = input;
    return {
      knowledgeNote: await createNote(context.domain, readScope(scope), note, options),
    };
  },
});

addMutation('updateKnowledgeNote', {
  input: UpdateKnowledgeNoteInput,
  payload: notePayload('UpdateKnowledgeNotePayload', 'Result of updating a knowledge note.'),
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Updates a knowledge note. Fields that are left out keep their values.',
  act: async (input, { domain }) => {
    const { knowledgeNoteId, clientMutationId: _mutation, ...change } = input;
    return { knowledgeNote: await updateNote(domain, knowledgeNoteId, change as NoteChange) };
  },
});

addMutation('enableKnowledgeNote', {
  input: oneNote('EnableKnowledgeNoteInput', 'The knowledge note to enable.'),
  payload: notePayload('EnableKnowledgeNotePayload', 'Result of enabling a knowledge note.'),
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Enables a knowledge note, so that agents are given it again. Does nothing if the note is enabled.',
  act: async (input, { domain }) => ({
    knowledgeNote: await updateNote(domain, input.knowledgeNoteId, { isEnabled: true }),
  }),
});

addMutation('disableKnowledgeNote', {
  input: oneNote('DisableKnowledgeNoteInput', 'The knowledge note to disable.'),
  payload: notePayload('DisableKnowledgeNotePayload', 'Result of disabling a knowledge note.'),
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description:
    'Disables a knowledge note without deleting it, so that agents are no longer given it. Does nothing if the note is disabled.',
  act: async (input, { domain }) => ({
    knowledgeNote: await updateNote(domain, input.knowledgeNoteId, { isEnabled: false }),
  }),
});

addMutation('deleteKnowledgeNote', {
  input: DeleteKnowledgeNoteInput,
  payload: DeleteKnowledgeNotePayload,
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  description: 'Deletes a knowledge note permanently.',
  act: async (input, { domain }) => {
    const { id } = await deleteNote(domain, input.knowledgeNoteId, undefined, input);
    return { deletedKnowledgeNoteId: globalId('note', id) };
  },
});
