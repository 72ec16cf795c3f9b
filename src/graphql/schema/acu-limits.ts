import { prefixedId } from '../../domain/ids.ts';
import { setCycleAcuLimit } from '../../domain/organizations/acu-limits.ts';
import { getEnterpriseAcuLimit, setEnterpriseAcuLimit } from '../../domain/organizations/enterprise-limit.ts';
import type { EnterpriseRecord } from '../../domain/organizations/enterprises.ts';
import { organizationsOf } from '../../domain/organizations/organizations.ts';
import type { OrganizationRecord } from '../../domain/organizations/use-organization.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { toInt } from '../whole-number.ts';
import { addMutation } from './add-mutation.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary, needs } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';

const AcuLimit = builder.objectRef<OrganizationRecord>('AcuLimit').implement({
  description: 'The ACUs that an organization may use in a cycle.',
  fields: (t) => ({
    organizationId: t.string({
      description: 'The organization, as REST writes its id.',
      resolve: ({ id }) => prefixedId('organization', id),
    }),
    organization: t.field({
      type: Organization,
      description: 'The organization.',
      resolve: (organization) => organization,
    }),
    cycleAcuLimit: t.int({
      description: 'How many ACUs. A limit above 2,147,483,647, the largest Int, is shown as that.',
      resolve: ({ maxCycleAcuLimit }) => toInt(maxCycleAcuLimit ?? 0),
    }),
  }),
});

const AcuLimitConnection = countedConnection(AcuLimit, 'AcuLimit', {
  page: 'A page of limits of ACUs.',
  edge: 'A limit of ACUs in a list.',
});

builder.objectField(Enterprise, 'acuLimits', (t) =>
  t.connection(
    {
      type: AcuLimit,
      ...boundary('manageAcuLimits'),
      description: 'The limits of those organizations that have one, the newest organization first.',
      resolve: async (_enterprise, page, context) =>
        nestedConnection(context, organizationsOf(context.domain, 'limited'), page),
    },
    AcuLimitConnection,
  ),
);

const organizationIdDescription = 'The organization: its global ID, or any form of its id.';

const SetAcuLimitInput = builder.inputType('SetAcuLimitInput', {
  description: 'The number of ACUs that an organization may use in a cycle.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    cycleAcuLimit: t.int({ required: true, description: 'How many ACUs; 0: none.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const SetAcuLimitPayload = payloadType<{ acuLimit: OrganizationRecord }>(
  'SetAcuLimitPayload',
  'A limit of ACUs that was set.',
  (t) => ({
    acuLimit: t.expose('acuLimit', { type: AcuLimit, nullable: true, description: 'The limit.' }),
  }),
);

const DeleteAcuLimitInput = builder.inputType('DeleteAcuLimitInput', {
  description: 'Whose limit of ACUs is to be taken away.',
  fields: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const DeleteAcuLimitPayload = payloadType<{ organization: OrganizationRecord; organizationId: string }>(
  'DeleteAcuLimitPayload',
  'An organization that may use as many ACUs in a cycle as it likes.',
  (t) => ({
    organization: t.expose('organization', { type: Organization, nullable: true, description: 'The organization.' }),
    organizationId: t.exposeString('organizationId', {
      nullable: true,
      description: 'The id of the organization as REST writes it.',
    }),
  }),
);

builder.objectField(Enterprise, 'maxCycleAcuLimit', (t) =>
  t.int({
    nullable: true,
    extensions: needs('manageAcuLimits'),
    description: 'The ACUs that all organizations together may use in a cycle; null: no limit.',
    resolve: async (_enterprise, _args, { domain }) => toInt(await getEnterpriseAcuLimit(domain)),
  }),
);

const UpdateEnterpriseInput = builder.inputType('UpdateEnterpriseInput', {
  description: 'How the enterprise is to change: what is left out stays.',
  fields: (t) => ({
    maxCycleAcuLimit: t.int({
      description: 'The ACUs that all organizations together may use in a cycle; null: as many as they like.',
    }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const UpdateEnterprisePayload = payloadType<{ maxCycleAcuLimit: number; enterprise: EnterpriseRecord | null }>(
  'UpdateEnterprisePayload',
  'The enterprise after a change.',
  (t) => ({
    maxCycleAcuLimit: t.exposeInt('maxCycleAcuLimit', { nullable: true, description: 'The limit; null: none.' }),
    enterprise: t.expose('enterprise', {
      type: Enterprise,
      nullable: true,
      description: 'The enterprise; null for who may not read it.',
    }),
  }),
);

addMutation('updateEnterprise', {
  input: UpdateEnterpriseInput,
  payload: UpdateEnterprisePayload,
  needs: ['manageAcuLimits'],
  description: 'Sets the ACUs that all organizations together may use in a cycle.',
  act: async (input, { domain, loaders }) => ({
    maxCycleAcuLimit: await setEnterpriseAcuLimit(domain, { maxCycleAcuLimit: input.maxCycleAcuLimit }),
    enterprise: await loaders.enterprises.load(domain.viewer.enterpriseId),
  }),
});

addMutation('setAcuLimit', {
  input: SetAcuLimitInput,
  payload: SetAcuLimitPayload,
  needs: ['manageAcuLimits'],
  description: 'Sets the ACUs that an organization may use in a cycle, whether it had a limit or not.',
  act: async (input, { domain }) => ({
    acuLimit: await setCycleAcuLimit(domain, input.organizationId, input.cycleAcuLimit),
  }),
});

addMutation('deleteAcuLimit', {
  input: DeleteAcuLimitInput,
  payload: DeleteAcuLimitPayload,
  needs: ['manageAcuLimits'],
  description: 'Takes an organization’s limit of ACUs in a cycle away; once more does no harm.',
  act: async (input, { domain }) => {
    const organization = await setCycleAcuLimit(domain, input.organizationId, null);
    return { organization, organizationId: prefixedId('organization', organization.id) };
  },
});
