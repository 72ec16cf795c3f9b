import { permissionFor } from '../../../auth/permissions.ts';
import { type DomainError, notFound, refuse } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { useOrganization } from '../../identity/organizations/use-organization.ts';
import { parseId } from '../../ids.ts';
import { type AutomationRecord, type AutomationRef, automationColumns } from '../model/automations.ts';
import type { ScheduleDefinition } from '../model/schedule-definition.ts';

/** An automation that was created as a schedule and still is one, with its playbook's title. */
export interface ScheduleRecord extends AutomationRecord {
  readonly schedule: ScheduleDefinition;
  /** Null: it has no playbook, or a deleted one. */
  readonly playbookTitle: string | null;
}

/** The same error whether it is missing, was created as an automation, or belongs to another tenant. */
export const noSuchSchedule = (): DomainError => notFound('schedule');

const columns = `${automationColumns}, p.title as "playbookTitle"`;
const from = `automation a left join playbook p on p.id = a.schedule->>'playbookId' and p.deleted_at is null`;
const ofOrganization = 'a.organization_id = $1 and a.schedule is not null and a.deleted_at is null';

/** Returns a schedule of an organization. Throws NOT_FOUND, ORGANIZATION_NOT_USABLE, FORBIDDEN. */
export async function getSchedule(context: Context, ref: AutomationRef): Promise<ScheduleRecord> {
  const { id } = await useOrganization(context, ref.organizationId, permissionFor.manageSchedules);
  const [schedule] = await context.store.query<ScheduleRecord>(
    `select ${columns} from ${from} where ${ofOrganization} and a.id = $2`,
    [id, parseId('automation', ref.automationId)],
  );
  if (!schedule) throw noSuchSchedule();
  return schedule;
}

/** Adds the playbook's title to a schedule that was just written. */
export async function withPlaybook(context: Context, automation: AutomationRecord): Promise<ScheduleRecord> {
  const { schedule } = automation;
  if (schedule === null) throw noSuchSchedule();
  const where = { id: schedule.playbookId ?? '', deletedAt: null };
  const playbook =
    schedule.playbookId && (await context.store.prisma.playbook.findFirst({ where, select: { title: true } }));
  return { ...automation, schedule, playbookTitle: playbook ? playbook.title : null };
}

/** Maximum number of schedules on one page. */
export const maxSchedules = 200;

/**
 * Lists the schedules of an organization by offset, newest first. The maximum number of automations bounds the offset.
 * Throws INVALID_INPUT at `limit` and `offset`; ORGANIZATION_NOT_USABLE, FORBIDDEN.
 */
export async function listSchedules(
  context: Context,
  { organizationId, limit, offset }: { organizationId: string; limit: number; offset: number },
): Promise<{ items: ScheduleRecord[]; hasNextPage: boolean }> {
  const { id } = await useOrganization(context, organizationId, permissionFor.manageSchedules);
  if (!(limit >= 1 && limit <= maxSchedules)) {
    throw refuse(['limit'], `"limit" must be an integer from 1 to ${maxSchedules}, but was ${limit}.`);
  }
  if (offset < 0) throw refuse(['offset'], `"offset" must not be negative, but was ${offset}.`);
  const rows = await context.store.query<ScheduleRecord>(
    `select ${columns} from ${from} where ${ofOrganization} order by a.created_at desc, a.id desc limit $2 offset $3`,
    [id, limit + 1, offset],
  );
  return { items: rows.slice(0, limit), hasNextPage: rows.length > limit };
}
