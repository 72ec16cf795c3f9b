import { notFound } from '../../common/errors.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { parseId } from '../ids.ts';

/** The parts of a context that the command line has. */
export type MigrationContext = Pick<Context, 'store' | 'now' | 'viewer' | 'address'>;

/** The result of switching an organization from schedules to automations, or back. */
export interface ScheduleMigration {
  /** Unprefixed id. */
  readonly organizationId: string;
  readonly name: string;
  /** False: nothing changed. */
  readonly isChanged: boolean;
  /** Number of its automations that are also schedules. */
  readonly schedules: number;
  /** Number of its other automations: created, or changed since, as automations. */
  readonly others: number;
}

/**
 * Switches an organization to automations instead of schedules, or back. Its existing automations do not change,
 * because a schedule is a view of an automation. With `isDryRun` nothing is written. Throws NOT_FOUND.
 */
export async function migrateSchedules(
  context: MigrationContext,
  id: string,
  { hasAutomations, isDryRun }: { readonly hasAutomations: boolean; readonly isDryRun: boolean },
): Promise<ScheduleMigration> {
  return context.store.transact(async (tx) => {
    const [organization] = await tx.query<{ id: string; name: string; hasAutomations: boolean }>(
      `select o.id, o.name, o.has_automations as "hasAutomations" from organization o
        where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null for update`,
      [parseId('organization', id), context.viewer.enterpriseId],
    );
    if (!organization) throw notFound('organization');
    const { id: organizationId, name } = organization;
    const [counts] = await tx.query<{ schedules: number; others: number }>(
      `select count(*) filter (where a.schedule is not null)::int as schedules,
              count(*) filter (where a.schedule is null)::int as others
         from automation a where a.organization_id = $1 and a.deleted_at is null`,
      [organizationId],
    );
    const isChanged = organization.hasAutomations !== hasAutomations;
    if (isChanged && !isDryRun) {
      await tx.query('update organization set has_automations = $2, updated_at = $3::timestamptz where id = $1', [
        organizationId,
        hasAutomations,
        context.now(),
      ]);
      const data = { hasAutomations, hasAutomationsBefore: organization.hasAutomations };
      await audit(context, tx, 'update_org', { organizationId, targetId: organizationId, data });
    }
    return { organizationId, name, isChanged, schedules: counts?.schedules ?? 0, others: counts?.others ?? 0 };
  });
}
