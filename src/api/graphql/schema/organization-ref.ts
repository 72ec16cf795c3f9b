import { findOrganizations, type OrganizationRecord } from '../../../domain/identity/organizations/use-organization.ts';
import { type IdKind, prefixedId } from '../../../domain/ids.ts';
import { builder, type SchemaTypes } from '../builder.ts';

/** The type without its fields: sessions and organizations refer to each other. */
export const Organization = builder.objectRef<OrganizationRecord>('Organization');

/** The field `organization` of an object: null if it has none, or if the viewer may not use it. */
export const organizationField = <T extends { readonly organizationId: string | null }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>,
  description: string,
) =>
  t.field({
    type: Organization,
    nullable: true,
    description,
    resolve: ({ organizationId }, _args, { loaders }) =>
      organizationId === null ? null : loaders.of(findOrganizations).load(organizationId),
  });

/** The field with an object's id in the form that REST has. */
export const restIdField = <T extends { readonly id: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, T>,
  kind: IdKind,
  description: string,
) => t.string({ description, resolve: ({ id }) => prefixedId(kind, id) });
