import type { Permission } from '../../__generated__/roleFormCreateMutation.graphql.ts';
import { permissions as texts } from '../../texts/roles.ts';

/** The permissions of organization roles, with their meanings. */
const ofOrganization = texts.ofOrganization satisfies Partial<Record<Permission, string>>;

const ofEnterprise = texts.ofEnterprise satisfies Partial<Record<Permission, string>>;

/** The meaning of every permission. */
export const meanings: Readonly<Record<keyof typeof ofOrganization | keyof typeof ofEnterprise, string>> = {
  ...ofEnterprise,
  ...ofOrganization,
};

/** The permissions that an organization role can have. */
export const organizationPermissions = Object.keys(ofOrganization) as (keyof typeof ofOrganization)[];

/** The permissions that an enterprise role can have: it applies to all organizations. */
export const permissions = Object.keys(meanings) as (keyof typeof meanings)[];
