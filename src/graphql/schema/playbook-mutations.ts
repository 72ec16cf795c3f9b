import { globalId } from '../../domain/ids.ts';
import {
  createPlaybook,
  deletePlaybook,
  type PlaybookChange,
  updatePlaybook,
} from '../../domain/playbooks/change-playbooks.ts';
import type { PlaybookRecord } from '../../domain/playbooks/playbooks.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  idempotencyKeyOf,
  payloadType,
} from './payloads.ts';
import { readScope, ScopeInput, scopeDescription } from './places.ts';
import { Playbook } from './playbooks.ts';

const playbookDescriptions = {
  playbookId: 'The playbook: its global ID, or any form of its id.',
  title: 'What to call it: 1 to 10,000 characters.',
  body: 'The instructions: at most 100,000 characters.',
  macro: 'Its shortcut: "!" and letters, digits, "_" or "-". No two playbooks of a place have the same. Null: none.',
  structuredOutputSchema:
    'A JSON Schema (Draft 7) for what its sessions produce: at most 64 KB, no external "$ref". Null: none.',
} as const;

const CreatePlaybookInput = builder.inputType('CreatePlaybookInput', {
  description: 'What a playbook is made from.',
  fields: (t) => ({
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    title: t.string({ required: true, description: playbookDescriptions.title }),
    body: t.string({ required: true, description: playbookDescriptions.body }),
    macro: t.string({ description: playbookDescriptions.macro }),
    structuredOutputSchema: t.field({ type: 'JSON', description: playbookDescriptions.structuredOutputSchema }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreatePlaybookPayload = payloadType<{ playbook: PlaybookRecord }>(
  'CreatePlaybookPayload',
  'A playbook that was made.',
  (t) => ({ playbook: t.expose('playbook', { type: Playbook, nullable: true, description: 'The playbook.' }) }),
);

const UpdatePlaybookInput = builder.inputType('UpdatePlaybookInput', {
  description: 'How a playbook is to change: what is left out stays.',
  fields: (t) => ({
    playbookId: t.id({ required: true, description: playbookDescriptions.playbookId }),
    title: t.string({ description: `${playbookDescriptions.title} Not null.` }),
    body: t.string({ description: `${playbookDescriptions.body} Not null.` }),
    macro: t.string({ description: playbookDescriptions.macro }),
    structuredOutputSchema: t.field({ type: 'JSON', description: playbookDescriptions.structuredOutputSchema }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdatePlaybookPayload = payloadType<{ playbook: PlaybookRecord }>(
  'UpdatePlaybookPayload',
  'A playbook that was changed.',
  (t) => ({ playbook: t.expose('playbook', { type: Playbook, nullable: true, description: 'The playbook.' }) }),
);

const DeletePlaybookInput = builder.inputType('DeletePlaybookInput', {
  description: 'Which playbook is to be deleted.',
  fields: (t) => ({
    playbookId: t.id({ required: true, description: playbookDescriptions.playbookId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeletePlaybookPayload = payloadType<{ deletedPlaybookId: string }>(
  'DeletePlaybookPayload',
  'A playbook that was deleted.',
  (t) => ({
    deletedPlaybookId: t.expose('deletedPlaybookId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of what is gone.',
    }),
  }),
);

addMutation('createPlaybook', {
  input: CreatePlaybookInput,
  payload: CreatePlaybookPayload,
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  description: 'Makes a playbook.',
  act: async (input, context, info) => {
    const { scope, idempotencyKey: _key, clientMutationId: _mutation, ...playbook } = input;
    return {
      playbook: await createPlaybook(context.domain, readScope(scope), playbook, {
        idempotencyKey: idempotencyKeyOf(context, input, info),
      }),
    };
  },
});

addMutation('updatePlaybook', {
  input: UpdatePlaybookInput,
  payload: UpdatePlaybookPayload,
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  description: 'Changes a playbook.',
  act: async (input, { domain }) => {
    const { playbookId, clientMutationId: _mutation, ...change } = input;
    return { playbook: await updatePlaybook(domain, playbookId, change as PlaybookChange) };
  },
});

addMutation('deletePlaybook', {
  input: DeletePlaybookInput,
  payload: DeletePlaybookPayload,
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  description: 'Deletes a playbook: sessions that follow it still show it.',
  act: async (input, { domain }) => {
    const { id } = await deletePlaybook(domain, input.playbookId, undefined, input);
    return { deletedPlaybookId: globalId('playbook', id) };
  },
});
