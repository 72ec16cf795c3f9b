import { globalId } from '../../../domain/ids.ts';
import { createNote, deleteNote, type NoteChange, updateNote } from '../../../domain/library/knowledge/change-notes.ts';
import { addMutation } from './add-mutation.ts';
import { KnowledgeNote } from './knowledge.ts';
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

/** The payload of createKnowledgeNote. */
export const CreateKnowledgeNotePayload = addMutation('createKnowledgeNote', {
  description: 'Creates a knowledge note in an organization or in the enterprise.',
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  input: (t) => ({
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    name: t.string({ required: true, description: noteDescriptions.name }),
    body: t.string({ required: true, description: noteDescriptions.body }),
    trigger: t.string({ required: true, description: noteDescriptions.trigger }),
    folderId: t.id({ description: noteDescriptions.folderId }),
    pinnedRepo: t.string({ description: noteDescriptions.pinnedRepo }),
    macro: t.string({ description: noteDescriptions.macro }),
    isEnabled: t.boolean({ defaultValue: true, description: noteDescriptions.isEnabled }),
  }),
  takes: 'idempotencyKey',
  payload: { knowledgeNote: KnowledgeNote },
  act: async ({ scope, ...note }, { domain }, options) => ({
    knowledgeNote: await createNote(domain, readScope(scope), note, options),
  }),
});

addMutation('updateKnowledgeNote', {
  description: 'Updates a knowledge note. Fields that are left out keep their values.',
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  input: (t) => ({
    knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }),
    name: t.string({ description: `${noteDescriptions.name} Must not be null.` }),
    body: t.string({ description: `${noteDescriptions.body} Must not be null.` }),
    trigger: t.string({ description: `${noteDescriptions.trigger} Must not be null.` }),
    folderId: t.id({ description: noteDescriptions.folderId }),
    pinnedRepo: t.string({ description: noteDescriptions.pinnedRepo }),
    macro: t.string({ description: noteDescriptions.macro }),
  }),
  takes: 'expectedVersion',
  payload: { knowledgeNote: KnowledgeNote },
  act: async ({ knowledgeNoteId, ...change }, { domain }) => ({
    knowledgeNote: await updateNote(domain, knowledgeNoteId, change as NoteChange),
  }),
});

addMutation('enableKnowledgeNote', {
  description: 'Enables a knowledge note, so that agents are given it again. Does nothing if the note is enabled.',
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  input: (t) => ({ knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }) }),
  payload: { knowledgeNote: KnowledgeNote },
  act: async (input, { domain }) => ({
    knowledgeNote: await updateNote(domain, input.knowledgeNoteId, { isEnabled: true }),
  }),
});

addMutation('disableKnowledgeNote', {
  description:
    'Disables a knowledge note without deleting it, so that agents are no longer given it. Does nothing if the note is disabled.',
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  input: (t) => ({ knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }) }),
  payload: { knowledgeNote: KnowledgeNote },
  act: async (input, { domain }) => ({
    knowledgeNote: await updateNote(domain, input.knowledgeNoteId, { isEnabled: false }),
  }),
});

addMutation('deleteKnowledgeNote', {
  description: 'Deletes a knowledge note permanently.',
  needs: [['changeKnowledge', 'changeEnterpriseKnowledge']],
  input: (t) => ({ knowledgeNoteId: t.id({ required: true, description: noteDescriptions.knowledgeNoteId }) }),
  takes: 'expectedVersion',
  payload: { deletedKnowledgeNoteId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deleteNote(domain, input.knowledgeNoteId, undefined, input);
    return { deletedKnowledgeNoteId: globalId('note', id) };
  },
});
