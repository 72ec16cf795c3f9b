import { globalId } from '../../../domain/ids.ts';
import {
  createPlaybook,
  deletePlaybook,
  type PlaybookChange,
  updatePlaybook,
} from '../../../domain/library/playbooks/change-playbooks.ts';
import type { PlaybookRecord } from '../../../domain/library/playbooks/playbooks.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import {
  clientMutationIdDescription,
  expectedVersionDescription,
  idempotencyKeyDescription,
  keyedPayloadType,
  payloadType,
} from './payloads.ts';
import { Playbook } from './playbooks.ts';
import { readScope, ScopeInput, scopeDescription } from './scope-input.ts';

const playbookId = 'Global ID or REST id of the playbook.';

type Fields = PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>;

/** The values of a playbook in both inputs. An update may leave the required ones out, but not clear them. */
const valueFields = <Required extends boolean>(t: Fields, required: Required) => {
  const notNull = required ? '' : ' Must not be null.';
  return {
    title: t.string({ required, description: `Title of the playbook, 1 to 10,000 characters.${notNull}` }),
    body: t.string({ required, description: `Instructions for the agent, 1 to 100,000 characters.${notNull}` }),
    macro: t.string({
      description:
        'Shortcut of the playbook: "!" and letters, digits, "_" or "-", for example `!release`. Maximum 100 characters, unique among the playbooks of the organization or the enterprise. Null means none.',
    }),
    structuredOutputSchema: t.field({
      type: 'JSON',
      description:
        'JSON Schema (Draft 7) for the structured output of sessions that follow the playbook and have no schema of their own. Maximum 64 KB, no external "$ref". Null means none.',
    }),
  };
};

const CreatePlaybookInput = builder.inputType('CreatePlaybookInput', {
  description: 'Parameters for creating a playbook.',
  fields: (t) => ({
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    ...valueFields(t, true),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

/** The payload of createPlaybook. */
export const CreatePlaybookPayload = keyedPayloadType<{ playbook: PlaybookRecord }>(
  'CreatePlaybookPayload',
  'Result of creating a playbook.',
  (t) => ({
    playbook: t.expose('playbook', {
      type: Playbook,
      nullable: true,
      description: 'Playbook that was created. Null if `userErrors` is not empty.',
    }),
  }),
);

const UpdatePlaybookInput = builder.inputType('UpdatePlaybookInput', {
  description: 'Parameters for updating a playbook. Omitted fields keep their values.',
  fields: (t) => ({
    playbookId: t.id({ required: true, description: playbookId }),
    ...valueFields(t, false),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdatePlaybookPayload = payloadType<{ playbook: PlaybookRecord }>(
  'UpdatePlaybookPayload',
  'Result of updating a playbook.',
  (t) => ({
    playbook: t.expose('playbook', {
      type: Playbook,
      nullable: true,
      description: 'Playbook after the update. Null if `userErrors` is not empty.',
    }),
  }),
);

const DeletePlaybookInput = builder.inputType('DeletePlaybookInput', {
  description: 'Parameters for deleting a playbook.',
  fields: (t) => ({
    playbookId: t.id({ required: true, description: playbookId }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeletePlaybookPayload = payloadType<{ deletedPlaybookId: string }>(
  'DeletePlaybookPayload',
  'Result of deleting a playbook.',
  (t) => ({
    deletedPlaybookId: t.expose('deletedPlaybookId', {
      type: 'ID',
      nullable: true,
      description: 'Global ID of the playbook that was deleted. Null if `userErrors` is not empty.',
    }),
  }),
);

addMutation('createPlaybook', {
  input: CreatePlaybookInput,
  payload: CreatePlaybookPayload,
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  description: 'Creates a playbook of an organization or of the enterprise.',
  act: async (input, context, options) => {
    const { scope, idempotencyKey: _key, clientMutationId: _mutation, ...playbook } = input;
    return {
      playbook: await createPlaybook(context.domain, readScope(scope), playbook, options),
    };
  },
});

addMutation('updatePlaybook', {
  input: UpdatePlaybookInput,
  payload: UpdatePlaybookPayload,
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  description: 'Updates a playbook. Omitted fields keep their values.',
  act: async (input, { domain }) => {
    const { playbookId, clientMutationId: _mutation, ...change } = input;
    return { playbook: await updatePlaybook(domain, playbookId, change as PlaybookChange) };
  },
});

addMutation('deletePlaybook', {
  input: DeletePlaybookInput,
  payload: DeletePlaybookPayload,
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  description: 'Deletes a playbook. It starts no more sessions, but sessions that follow it still show it.',
  act: async (input, { domain }) => {
    const { id } = await deletePlaybook(domain, input.playbookId, undefined, input);
    return { deletedPlaybookId: globalId('playbook', id) };
  },
});
