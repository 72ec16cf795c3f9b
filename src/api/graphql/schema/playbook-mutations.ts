import { globalId } from '../../../domain/ids.ts';
import {
  createPlaybook,
  deletePlaybook,
  type PlaybookChange,
  updatePlaybook,
} from '../../../domain/library/playbooks/change-playbooks.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { Playbook } from './playbooks.ts';
import { readScope, ScopeInput, scopeDescription } from './scope-input.ts';

const playbookId = 'Global ID or REST id of the playbook.';

/** The values of a playbook in both inputs. An update may leave the required ones out, but not clear them. */
const valueFields = <Required extends boolean>(t: InputFields, required: Required) => {
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

/** The payload of createPlaybook. */
export const CreatePlaybookPayload = addMutation('createPlaybook', {
  description: 'Creates a playbook of an organization or of the enterprise.',
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  input: (t) => ({
    scope: t.field({ type: ScopeInput, required: true, description: scopeDescription }),
    ...valueFields(t, true),
  }),
  takes: 'idempotencyKey',
  payload: { playbook: Playbook },
  act: async ({ scope, ...playbook }, { domain }, options) => ({
    playbook: await createPlaybook(domain, readScope(scope), playbook, options),
  }),
});

addMutation('updatePlaybook', {
  description: 'Updates a playbook. Omitted fields keep their values.',
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  input: (t) => ({
    playbookId: t.id({ required: true, description: playbookId }),
    ...valueFields(t, false),
  }),
  takes: 'expectedVersion',
  payload: { playbook: Playbook },
  act: async ({ playbookId, ...change }, { domain }) => ({
    playbook: await updatePlaybook(domain, playbookId, change as PlaybookChange),
  }),
});

addMutation('deletePlaybook', {
  description: 'Deletes a playbook. It starts no more sessions, but sessions that follow it still show it.',
  needs: [['changePlaybooks', 'changeEnterprisePlaybooks']],
  input: (t) => ({ playbookId: t.id({ required: true, description: playbookId }) }),
  takes: 'expectedVersion',
  payload: { deletedPlaybookId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deletePlaybook(domain, input.playbookId, undefined, input);
    return { deletedPlaybookId: globalId('playbook', id) };
  },
});
