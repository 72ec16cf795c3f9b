import { deleteOrganization, updateOrganization } from '../../../domain/identity/organizations/change-organization.ts';
import { createOrganization } from '../../../domain/identity/organizations/organizations.ts';
import { findOrganization } from '../../../domain/identity/organizations/use-organization.ts';
import { globalId } from '../../../domain/ids.ts';
import { modelIdRule } from '../../../providers/model-id.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { readAgentId } from './agents.ts';
import { Organization } from './organization-ref.ts';
import { refuseNulls } from './payloads.ts';

/** The payload of createOrganization. */
export const CreateOrganizationPayload = addMutation('createOrganization', {
  description:
    'Creates an organization in the enterprise. In an enterprise with several organizations, each may use only the repositories of its git permissions (`createGitPermission`). So with the second organization, the first one needs git permissions too.',
  needs: ['createOrganization'],
  input: (t) => ({
    name: t.string({ required: true, description: 'Name of the organization: 1 to 200 characters, not blank.' }),
    maxCycleAcuLimit: t.int({
      description:
        'Maximum number of ACUs that the organization may use in a cycle, which is a calendar month in UTC; null for no limit.',
    }),
    maxSessionAcuLimit: t.int({
      description: 'Maximum number of ACUs that each session of the organization may use; null for no limit.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: { organization: Organization },
  act: async (input, { domain }, options) => ({ organization: await createOrganization(domain, input, options) }),
});

const DefaultModelInput = builder.inputType('DefaultModelInput', {
  description: 'Model of sessions on an agent that choose none.',
  fields: (t) => ({
    agentId: t.id({
      required: true,
      description: 'Global ID of the agent, or the id of its profile, such as `opencode`.',
    }),
    model: t.string({
      required: true,
      description: `Model in the form of \`models\` of the agent or of its option \`model\`, 1 to 200 characters: ${modelIdRule}.`,
    }),
  }),
});

const organizationIdDescription = 'Global ID or REST id of the organization (`org-…`).';

addMutation('updateOrganization', {
  description:
    'Updates an organization. The name, the agent, the models, the branch template and the repositories require MANAGE_ORGANIZATIONS, the limits MANAGE_ORGANIZATIONS or MANAGE_BILLING, and the default tag MANAGE_ENTERPRISE_SETTINGS. A running session stops when a limit of ACUs leaves none for it; `maxConcurrentSessions` stops no session.',
  needs: [['updateOrganization', 'manageAcuLimits']],
  input: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    name: t.string({ description: 'New name of the organization: 1 to 200 characters, not blank. Must not be null.' }),
    maxCycleAcuLimit: t.int({
      description:
        'Maximum number of ACUs that the organization may use in a cycle, which is a calendar month in UTC; null for no limit.',
    }),
    maxSessionAcuLimit: t.int({
      description: 'Maximum number of ACUs that each session of the organization may use; null for no limit.',
    }),
    maxConcurrentSessions: t.int({
      description:
        'Maximum number of sessions of the organization that run at the same time: 0 to 1,000,000. 0 for no limit, null for the default of the service.',
    }),
    maxQueuedSessions: t.int({
      description:
        'Maximum number of sessions of the organization that wait for a worker: 0 to 1,000,000. Further sessions, and messages that would wake one, are refused with LIMIT_EXCEEDED. 0 for no limit, null for the default of the service.',
    }),
    maxStorageMb: t.int({
      description:
        'Maximum size of the attachments and checkpoints of the organization together, in MiB: 0 to 1,000,000,000. Beyond it, files and new sessions are refused with LIMIT_EXCEEDED; sessions that run still save their checkpoints. 0 for no limit, null for the default of the service.',
    }),
    maxTokensPerDay: t.float({
      description:
        'Maximum number of tokens, of inputs and outputs together, that the sessions of the organization may use in a day in UTC: an integer from 0 to 1,000,000,000,000,000. Then its sessions are suspended. 0 for no limit, null for the default of the service.',
    }),
    defaultAgent: t.string({
      description: 'Id of the agent for sessions that are created without an agent; null for the default in `agents`.',
    }),
    defaultModels: t.field({
      type: [DefaultModelInput],
      description:
        'Models of sessions that choose none, at most one for each agent. They replace all earlier ones; an empty list removes them. Must not be null.',
    }),
    branchTemplate: t.string({
      description:
        'Template of the branches of sessions, 1 to 200 characters, with the placeholders `{slug}` (from the title) and `{short id}`, which is required; null for the default `switchyard/{slug}-{short id}`.',
    }),
    defaultRepositories: t.stringList({
      description:
        'Repositories of sessions that name none, at most 20: `owner/name`, `host/owner/name`, URLs or ids. They replace all earlier ones; an empty list removes them. Must not be null.',
    }),
    defaultTag: t.string({
      description:
        'Tag for sessions that are created without tags. Must be an allowed tag of the organization, of 1 to 200 characters. Null clears the default tag.',
    }),
  }),
  payload: {
    organization: {
      type: Organization,
      description: 'The organization after the change; null if the viewer may not see it, or if there are user errors.',
    },
  },
  act: async (input, { domain }) => {
    const { defaultModels, defaultRepositories, ...rest } = input;
    refuseNulls(input, ['defaultModels', 'defaultRepositories']);
    const models = defaultModels?.map(({ agentId, model }) => ({ agentId: readAgentId(agentId), model }));
    const repositories = defaultRepositories && { defaultRepositories };
    const change = { ...rest, ...repositories, ...(models && { defaultModels: models }) };
    const organization = await updateOrganization(domain, input.organizationId, change);
    // Callers that may not see the organization may still change its default tag.
    const isForAll = input.defaultTag !== undefined;
    return { organization: isForAll ? await findOrganization(domain, organization.id) : organization };
  },
});

addMutation('deleteOrganization', {
  description:
    'Deletes an organization and everything in it. Its API keys stop working and its sessions are terminated.',
  needs: ['deleteOrganization'],
  input: (t) => ({ organizationId: t.id({ required: true, description: organizationIdDescription }) }),
  payload: { deletedOrganizationId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deleteOrganization(domain, input.organizationId);
    return { deletedOrganizationId: globalId('organization', id) };
  },
});
