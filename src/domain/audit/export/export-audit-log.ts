import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission, type Viewer } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { type AuditEntryRecord, entryActors, entryColumns } from '../audit-entry.ts';
import { getOwnOrganizationId } from '../audit-log.ts';
import { audit } from '../record-audit.ts';
import { type AuditSigningKey, openSigningKey } from './signing-key.ts';

/** Entries in one statement. */
const batchSize = 500;

/** A part of the log. The bounds are optional; after: >=, before: <. */
export interface AuditExportRequest {
  /** In any form; missing: the enterprise and all of its organizations. */
  readonly organizationId?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** An export that may begin. */
export interface AuditExport {
  /** Unprefixed; null: the whole enterprise. */
  readonly organizationId: string | null;
  /** The time of the export: it has no later entries. */
  readonly createdAt: Date;
  readonly signingKey: AuditSigningKey;
  /**
   * Reads the entries by time, oldest first, in batches. `viewer` is called before each batch: FORBIDDEN ends the export of a
   * viewer that lost the permission.
   */
  readonly batches: (viewer: () => Viewer) => AsyncGenerator<readonly AuditEntryRecord[], undefined>;
}

const statementFor = (scope: string) => `
  select ${entryColumns} from (
    select e.* from audit_entry e
     where ${scope} and (e.created_at, e.id) > ($2::timestamptz, $3::text) and e.created_at < $4::timestamptz
     order by e.created_at, e.id limit $5) e
    ${entryActors} order by e.created_at, e.id`;

const ofEnterprise = statementFor('e.enterprise_id = $1');
const ofOrganization = statementFor('e.enterprise_id = $1 and e.organization_id = $6');

/**
 * Begins an export of the audit log of the enterprise or of an organization, and records that. Throws FORBIDDEN, and NOT_FOUND for an
 * organization of another enterprise.
 */
export async function beginAuditExport(context: Context, request: AuditExportRequest): Promise<AuditExport> {
  const { viewer, store } = context;
  requireEnterprisePermission(viewer, permissionFor.viewAuditLog);
  const organizationId =
    request.organizationId === undefined ? null : await getOwnOrganizationId(context, request.organizationId);
  const signingKey = await openSigningKey(context, viewer.enterpriseId);
  const createdAt = context.now();
  const data = {
    createdAfter: request.createdAfter?.toISOString() ?? null,
    createdBefore: request.createdBefore?.toISOString() ?? null,
  };
  await store.transact((tx) => audit(context, tx, 'create_audit_log_export', { organizationId, data }));
  const end = request.createdBefore && request.createdBefore < createdAt ? request.createdBefore : createdAt;
  return {
    organizationId,
    createdAt,
    signingKey,
    async *batches(current) {
      const sql = organizationId === null ? ofEnterprise : ofOrganization;
      const scope = organizationId === null ? [] : [organizationId];
      let last: { at: Date | string; id: string } = { at: request.createdAfter ?? '-infinity', id: '' };
      for (;;) {
        requireEnterprisePermission(current(), permissionFor.viewAuditLog);
        const values = [viewer.enterpriseId, last.at, last.id, end, batchSize, ...scope];
        const entries: AuditEntryRecord[] = await store.query<AuditEntryRecord>(sql, values);
        if (entries.length > 0) yield entries;
        const newest = entries.at(-1);
        if (newest === undefined || entries.length < batchSize) return undefined;
        last = { at: newest.createdAt, id: newest.id };
      }
    },
  };
}

/** Returns the key that signs exports of the enterprise's audit log. Throws FORBIDDEN. */
export async function openAuditSigningKey(context: Context): Promise<AuditSigningKey> {
  requireEnterprisePermission(context.viewer, permissionFor.viewAuditLog);
  return openSigningKey(context, context.viewer.enterpriseId);
}
