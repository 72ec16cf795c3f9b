import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission, type Viewer } from '../../../auth/viewer.ts';
import { refuse } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { badCursor } from '../../pages.ts';
import { type AuditEntryRecord, entryActors, entryColumns } from '../audit-entry.ts';
import { getOwnOrganizationId, requireEntryOf } from '../audit-log.ts';
import { byCommit, type CommitPosition } from '../audit-log-statement.ts';
import { audit } from '../record-audit.ts';
import { type AuditSigningKey, openSigningKey } from './signing-key.ts';

/** Entries in one statement. */
const batchSize = 500;

/** A part of the log: a range of times, or what became final after another export. The bounds are optional; after: >=, before: <. */
export interface AuditExportRequest {
  /** In any form; missing: the enterprise and all of its organizations. */
  readonly organizationId?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  /** The end of an earlier export, or a cursor of the ascending log. Not together with times. */
  readonly after?: string | undefined;
}

/** An export that may begin. */
export interface AuditExport {
  /** Unprefixed; null: the whole enterprise. */
  readonly organizationId: string | null;
  /** The beginning of the export. */
  readonly createdAt: Date;
  readonly signingKey: AuditSigningKey;
  /**
   * The cursor at which the next export continues: this one has every entry of its range up to it, and none after it. Null: the range has
   * an end, or there was no entry yet.
   */
  readonly endCursor: string | null;
  /**
   * Reads the entries oldest first, in batches: by time, or in the order of the ascending log after a cursor. `viewer` is called
   * before each batch: FORBIDDEN ends the export of a viewer that lost the permission.
   */
  readonly batches: (viewer: () => Viewer) => AsyncGenerator<readonly AuditEntryRecord[], undefined>;
}

/** The entries of an export: their condition, their order, and the values and the next position of a batch. */
interface Reading {
  readonly where: string;
  readonly by: string;
  /** The values from $5 on; $1 to $4 are the enterprise, the position and the number of entries. */
  readonly values: readonly unknown[];
  readonly start: readonly [unknown, string];
  readonly positionOf: (entry: AuditEntryRecord) => readonly [unknown, string];
}

const afterTime = '(e.created_at, e.id) > ($2::timestamptz, $3::text)';
const timeOrder = 'e.created_at, e.id';
const upTo = '(e.xid, e.id) <= ($5::text::xid8, $6::text)';

const byTimes = (from: Date | undefined, where: string, values: readonly unknown[]): Reading => ({
  where: `${afterTime} and ${where}`,
  by: timeOrder,
  values,
  start: [from ?? '-infinity', ''],
  positionOf: ({ createdAt, id }) => [createdAt, id],
});

const byPositions = (from: CommitPosition, end: CommitPosition): Reading => ({
  where: `(e.xid, e.id) > ($2::text::xid8, $3::text) and ${upTo}`,
  by: 'e.xid, e.id',
  values: [end.xid, end.id],
  start: [from.xid, from.id],
  positionOf: ({ xid, id }) => [xid, id],
});

const statementOf = ({ where, by, values }: Reading, isOfOrganization: boolean) => `
  select ${entryColumns} from (
    select e.* from audit_entry e
     where e.enterprise_id = $1 and ${where} ${isOfOrganization ? `and e.organization_id = $${values.length + 5}` : ''}
     order by ${by} limit $4) e
    ${entryActors} order by ${by}`;

// Of the whole enterprise, also for one organization: its last entry may be far back.
const findEnd = `
  select e.xid::text as xid, e.id from audit_entry e where e.enterprise_id = $1 and e.xid < oldest_transaction()
   order by e.xid desc, e.id desc limit 1`;

/**
 * Begins an export of the audit log of the enterprise or of an organization, and records that. Throws FORBIDDEN, NOT_FOUND for an
 * organization of another enterprise, INVALID_INPUT for a cursor together with a time, and the errors of {@link requireEntryOf}.
 */
export async function beginAuditExport(context: Context, request: AuditExportRequest): Promise<AuditExport> {
  const { viewer, store } = context;
  requireEnterprisePermission(viewer, permissionFor.viewAuditLog);
  const organizationId =
    request.organizationId === undefined ? null : await getOwnOrganizationId(context, request.organizationId);
  const from = await readStart(context, request);
  const signingKey = await openSigningKey(context, viewer.enterpriseId);
  const createdAt = context.now();
  // Before the entry of the export itself.
  const end = request.createdBefore === undefined ? await readEnd(context, from) : null;
  const data = {
    createdAfter: request.createdAfter?.toISOString() ?? null,
    createdBefore: request.createdBefore?.toISOString() ?? null,
    after: request.after ?? null,
  };
  await store.transact((tx) => audit(context, tx, 'create_audit_log_export', { organizationId, data }));
  const reading = readingOf(request, createdAt, from, end);
  return {
    organizationId,
    createdAt,
    signingKey,
    endCursor: end && byCommit.cursorOf(end),
    async *batches(current) {
      if (reading === null) return undefined;
      const sql = statementOf(reading, organizationId !== null);
      const last = [...reading.values, ...(organizationId === null ? [] : [organizationId])];
      let position = reading.start;
      for (;;) {
        requireEnterprisePermission(current(), permissionFor.viewAuditLog);
        const values = [viewer.enterpriseId, ...position, batchSize, ...last];
        const entries: AuditEntryRecord[] = await store.query<AuditEntryRecord>(sql, values);
        if (entries.length > 0) yield entries;
        const newest = entries.at(-1);
        if (newest === undefined || entries.length < batchSize) return undefined;
        position = reading.positionOf(newest);
      }
    },
  };
}

/** Reads the cursor of a request. Throws INVALID_INPUT, BAD_CURSOR. */
async function readStart({ viewer, store }: Context, request: AuditExportRequest): Promise<CommitPosition | null> {
  const { after } = request;
  if (after === undefined) return null;
  if (request.createdAfter !== undefined || request.createdBefore !== undefined) {
    throw refuse(
      ['after'],
      '"after" continues an export without times: "time_after" and "time_before" are not possible.',
    );
  }
  const cursor = after.length <= 500 ? byCommit.readCursor(after) : null;
  if (cursor === null) throw badCursor('after', after);
  const { enterpriseId } = viewer;
  await requireEntryOf({ store, enterpriseId }, byCommit, { name: 'after', cursor, text: after });
  return cursor;
}

/** Finds the last entry that no open transaction can come before; `from` if it is not behind it. */
async function readEnd({ viewer, store }: Context, from: CommitPosition | null): Promise<CommitPosition | null> {
  const [last] = await store.query<CommitPosition>(findEnd, [viewer.enterpriseId]);
  if (last === undefined || from === null) return last ?? from;
  const [a, b] = [BigInt(last.xid), BigInt(from.xid)];
  return a > b || (a === b && last.id > from.id) ? last : from;
}

function readingOf(
  { createdAfter, createdBefore }: AuditExportRequest,
  createdAt: Date,
  from: CommitPosition | null,
  end: CommitPosition | null,
): Reading | null {
  if (createdBefore !== undefined) {
    const before = createdBefore < createdAt ? createdBefore : createdAt;
    return byTimes(createdAfter, 'e.created_at < $5::timestamptz', [before]);
  }
  if (end === null) return null;
  return from === null ? byTimes(createdAfter, upTo, [end.xid, end.id]) : byPositions(from, end);
}

/** Returns the key that signs exports of the enterprise's audit log. Throws FORBIDDEN. */
export async function openAuditSigningKey(context: Context): Promise<AuditSigningKey> {
  requireEnterprisePermission(context.viewer, permissionFor.viewAuditLog);
  return openSigningKey(context, context.viewer.enterpriseId);
}
