import { setCycleAcuLimit } from '../../../domain/identity/organizations/acu-limits.ts';
import {
  getEnterpriseAcuLimit,
  setEnterpriseAcuLimit,
} from '../../../domain/identity/organizations/enterprise-limit.ts';
import { findEnterprises } from '../../../domain/identity/organizations/enterprises.ts';
import { organizationsOf } from '../../../domain/identity/organizations/organizations.ts';
import type { OrganizationRecord } from '../../../domain/identity/organizations/use-organization.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { toInt } from '../whole-number.ts';
import { listTypes } from './add-list.ts';
import { addMutation } from './add-mutation.ts';
import { Enterprise } from './enterprise-ref.ts';
import { boundary, needs } from './needs.ts';
import { Organization, restIdField } from './organization-ref.ts';

const AcuLimit = builder.objectRef<OrganizationRecord>('AcuLimit').implement({
  description: 'The maximum number of ACUs that an organization may use in a cycle, which is a calendar month in UTC.',
  fields: (t) => ({
    organizationId: restIdField(t, 'organization', 'REST id of the organization, which begins with `org-`.'),
    organization: t.field({
      type: Organization,
      description: 'Organization to which the ACU limit applies.',
      resolve: (organization) => organization,
    }),
    cycleAcuLimit: t.int({
      description:
        'Maximum number of ACUs in a cycle. A limit above 2,147,483,647, the largest `Int`, is returned as 2,147,483,647.',
      resolve: ({ maxCycleAcuLimit }) => toInt(maxCycleAcuLimit ?? 0),
    }),
  }),
});

const AcuLimitList = listTypes(AcuLimit, 'AcuLimit');

builder.objectField(Enterprise, 'acuLimits', (t) =>
  t.connection(
    {
      type: AcuLimit,
      ...boundary('manageAcuLimits'),
      description: 'ACU limits of the organizations that have a limit, newest organization first.',
      resolve: async (_enterprise, page, context) =>
        nestedConnection(context, organizationsOf(context.domain, 'limited'), page),
    },
    AcuLimitList.connection,
  ),
);

const organizationIdDescription = 'Global ID or REST id of the organization.';

builder.objectField(Enterprise, 'maxCycleAcuLimit', (t) =>
  t.int({
    nullable: true,
    extensions: needs('manageAcuLimits'),
    description:
      'Maximum number of ACUs that all organizations together may use in a cycle, which is a calendar month in UTC. Null if there is no limit.',
    resolve: async (_enterprise, _args, { domain }) => toInt(await getEnterpriseAcuLimit(domain)),
  }),
);

addMutation('updateEnterprise', {
  description: 'Sets the maximum number of ACUs that all organizations together may use in a cycle.',
  needs: ['manageAcuLimits'],
  input: (t) => ({
    maxCycleAcuLimit: t.int({
      description: 'Maximum number of ACUs that all organizations together may use in a cycle. Null removes the limit.',
    }),
  }),
  payload: {
    maxCycleAcuLimit: {
      type: 'Int',
      description:
        'Maximum number of ACUs that all organizations together may use in a cycle. Null if there is no limit or there are user errors.',
    },
    enterprise: {
      type: Enterprise,
      description: 'Enterprise after the change. Null if the viewer may not read the enterprise.',
    },
  },
  act: async (input, { domain, loaders }) => ({
    maxCycleAcuLimit: await setEnterpriseAcuLimit(domain, { maxCycleAcuLimit: input.maxCycleAcuLimit }),
    enterprise: await loaders.of(findEnterprises).load(domain.viewer.enterpriseId),
  }),
});

addMutation('setAcuLimit', {
  description:
    'Sets the maximum number of ACUs that an organization may use in a cycle. An existing limit is replaced.',
  needs: ['manageAcuLimits'],
  input: (t) => ({
    organizationId: t.id({ required: true, description: organizationIdDescription }),
    cycleAcuLimit: t.int({
      required: true,
      description: 'Maximum number of ACUs in a cycle. The organization may use no ACUs if the limit is 0.',
    }),
  }),
  payload: { acuLimit: AcuLimit },
  act: async (input, { domain }) => ({
    acuLimit: await setCycleAcuLimit(domain, input.organizationId, input.cycleAcuLimit),
  }),
});

addMutation('deleteAcuLimit', {
  description: 'Removes the ACU limit of an organization. Does nothing if the organization has no limit.',
  needs: ['manageAcuLimits'],
  input: (t) => ({ organizationId: t.id({ required: true, description: organizationIdDescription }) }),
  payload: {
    organization: {
      type: Organization,
      description: 'Organization after its ACU limit was removed. Null if there are user errors.',
    },
    organizationId: { type: 'String', description: 'The id of the organization as REST writes it.' },
  },
  act: async (input, { domain }) => {
    const organization = await setCycleAcuLimit(domain, input.organizationId, null);
    return { organization, organizationId: prefixedId('organization', organization.id) };
  },
});
