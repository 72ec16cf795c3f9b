import type { Transaction } from '../../../store/store.ts';
import { notFound } from '../../errors.ts';
import type { OrganizationRecord } from '../../identity/organizations/use-organization.ts';
import { type AutomationRecord, automationColumns } from '../model/automations.ts';
import type { RunTrigger } from '../model/runs.ts';

/** Why an automation fires. */
export interface RunCause {
  /**
   * What is answered, once for each automation: `due:<time>`, `webhook:<delivery id>`, `event:<log entry id>`, `manual:<id>`.
   * At most 300 characters.
   */
  readonly deliveryKey: string;
  /** Kept in the run's row and shown. Small: never the body of a webhook. */
  readonly trigger: RunTrigger;
  /** What the prompt is followed by: the event as text. */
  readonly addition?: string | null;
  /** How many automations stand before it in a chain of sessions that start automations. */
  readonly depth?: number;
  readonly scheduledFor?: Date | null;
  /** A run that failed before is tried again; else it stays what it is. */
  readonly isRetry?: boolean;
  /** It is not to be done, but to be told of: why. */
  readonly skip?: string;
}

/** What the firing of an automation needs to know. It asks for no viewer: it acts as the automation's owner. */
export interface LockedAutomation {
  readonly automation: AutomationRecord;
  readonly organization: OrganizationRecord;
  readonly isOrganizationGone: boolean;
}

/** The automation of a bare id with its organization, locked until the transaction ends. NOT_FOUND for a deleted one. */
export async function lockForRun(tx: Transaction, id: string): Promise<LockedAutomation> {
  const [row] = await tx.query<AutomationRecord & OfOrganization>(
    `select ${automationColumns}, o.deleted_at is not null as "isOrganizationGone", o.enterprise_id as "enterpriseId",
            o.name as "organizationName", o.max_cycle_acu_limit as "maxCycleAcuLimit",
            o.max_session_acu_limit as "maxSessionAcuLimit",
            o.max_concurrent_sessions as "maxConcurrentSessions", o.default_agent as "defaultAgent",
            o.created_at as "organizationCreatedAt", o.updated_at as "organizationUpdatedAt"
       from automation a join organization o on o.id = a.organization_id
      where a.id = $1 and a.deleted_at is null for update of a`,
    [id],
  );
  if (!row) throw notFound('automation');
  const { isOrganizationGone, organizationName, organizationCreatedAt, organizationUpdatedAt, ...rest } = row;
  const { enterpriseId, maxCycleAcuLimit, maxSessionAcuLimit, maxConcurrentSessions, defaultAgent, ...automation } =
    rest;
  const organization: OrganizationRecord = {
    id: automation.organizationId,
    enterpriseId,
    name: organizationName,
    maxCycleAcuLimit,
    maxSessionAcuLimit,
    maxConcurrentSessions,
    defaultAgent,
    createdAt: organizationCreatedAt,
    updatedAt: organizationUpdatedAt,
  };
  return { automation, organization, isOrganizationGone };
}

// Its columns, of which some have the names of the automation's.
interface OfOrganization extends Omit<OrganizationRecord, 'id' | 'name' | 'createdAt' | 'updatedAt'> {
  readonly isOrganizationGone: boolean;
  readonly organizationName: string;
  readonly organizationCreatedAt: Date;
  readonly organizationUpdatedAt: Date;
}
