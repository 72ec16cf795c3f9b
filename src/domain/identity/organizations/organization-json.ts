import { jsonRow } from '../../../store/json-rows.ts';
import { type OrganizationRecord, organizationFields } from './use-organization.ts';

/** An organization in JSON. */
export const organizationInJson = jsonRow<'Organization', OrganizationRecord>('Organization')({
  fields: organizationFields,
});
