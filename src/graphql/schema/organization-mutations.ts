import { globalId } from '../../domain/ids.ts';
import { deleteOrganization, updateOrganization } from '../../domain/organizations/change-organization.ts';
import { createOrganization } from '../../domain/organizations/organizations.ts';
import { findOrganization, type OrganizationRecord } from '../../domain/organizations/use-organization.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, idempotencyKeyDescription, idempotencyKeyOf, payloadType } from './payloads.ts';

const CreateOrganizationInput = builder.inputType('CreateOrganizationInput', {
  description: 'What an organization is made from.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it.' }),
    maxCycleAcuLimit: t.int({ description: 'The ACUs that it may use in a cycle.' }),
    maxSessionAcuLimit: t.int({ description: 'The ACUs that one session may use.' }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateOrganizationPayload = payloadType<{ organization: OrganizationRecord }>(
  'CreateOrganizationPayload',
  'An organization that was made.',
  (t) => ({
    organization: t.expose('organization', { type: Organization, nullable: true, description: 'The organization.' }),
  }),
);

addMutation('createOrganization', {
  input: CreateOrganizationInput,
  payload: CreateOrganizationPayload,
  needs: ['createOrganization'],
  description: 'Makes an organization.',
  act: async (input, context, info) => {
    const { idempotencyKey: _key, clientMutationId: _mutation, ...organization } = input;
    const options = { idempotencyKey: idempotencyKeyOf(context, input, info) };
    return { organization: await createOrganization(context.domain, organization, options) };
  },
});

const organizationIdDescription = 'The organization: its global ID, or any form of its id.';

const UpdateOrganizationInput = builder.inputType('UpdateOrganizationInput', {
  description: 'How an organization is to change: what is left out stays.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    name: t.string({ description: 'What to call it from now on; not null.' }),
    maxCycleAcuLimit: t.int({ description: 'The ACUs that it may use in a cycle; null: as many as it likes.' }),
    maxSessionAcuLimit: t.int({ description: 'The ACUs that one session may use; null: no limit.' }),
    maxConcurrentSessions: t.int({
      description: 'The most of its sessions that run at once; null: the default of the service; 0: no limit.',
    }),
    defaultAgent: t.string({ description: 'The agent of its sessions that name none; null: the default of `agents`.' }),
    defaultTag: t.string({
      description:
        'The tag of its sessions that are created without one: one of its allowed tags, of 1 to 200 characters. Null clears it.',
    }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateOrganizationPayload = payloadType<{ organization: OrganizationRecord | null }>(
  'UpdateOrganizationPayload',
  'An organization that was changed.',
  (t) => ({
    organization: t.expose('organization', {
      type: Organization,
      nullable: true,
      description: 'The organization after the change; null where the viewer may not see it.',
    }),
  }),
);

addMutation('updateOrganization', {
  input: UpdateOrganizationInput,
  payload: UpdateOrganizationPayload,
  needs: [['updateOrganization', 'manageAcuLimits']],
  description:
    'Changes an organization. The name and the agent need MANAGE_ORGANIZATIONS, the limits that or MANAGE_BILLING, the default tag MANAGE_ENTERPRISE_SETTINGS. A session at work stops when a limit of ACUs leaves nothing for it; `maxConcurrentSessions` stops none.',
  act: async (input, { domain }) => {
    const organization = await updateOrganization(domain, input.organizationId, input);
    // The default tag is also for those who may not see the organization.
    const isForAll = input.defaultTag !== undefined;
    return { organization: isForAll ? await findOrganization(domain, organization.id) : organization };
  },
});

const DeleteOrganizationInput = builder.inputType('DeleteOrganizationInput', {
  description: 'Which organization is to be deleted.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteOrganizationPayload = payloadType<{ deletedOrganizationId: string }>(
  'DeleteOrganizationPayload',
  'An organization that was deleted.',
  (t) => ({
    deletedOrganizationId: t.expose('deletedOrganizationId', {
      type: 'ID',
      nullable: true,
      description: 'The global ID of what is gone.',
    }),
  }),
);

addMutation('deleteOrganization', {
  input: DeleteOrganizationInput,
  payload: DeleteOrganizationPayload,
  needs: ['deleteOrganization'],
  description: 'Deletes an organization and all that is in it: its keys end, its sessions are terminated.',
  act: async (input, { domain }) => {
    const { id } = await deleteOrganization(domain, input.organizationId);
    return { deletedOrganizationId: globalId('organization', id) };
  },
});
