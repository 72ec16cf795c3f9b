import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { OrganizationRecord } from '../../identity/organizations/use-organization.ts';
import { type AutomationRecord, automationColumns } from '../model/automations.ts';
import type { RunTrigger } from '../model/runs.ts';

/** The reason why an automation starts a run. */
export interface RunCause {
  /**
   * Key of the event, once for each automation: `due:<time>`, `webhook:<delivery id>`, `event:<log entry id>`,
   * `forge:<digest of the delivery>`, `manual:<id>`. At most 300 characters.
   */
  readonly deliveryKey: string;
  /** Stored in the run's row and shown. Small: never the body of a webhook. */
  readonly trigger: RunTrigger;
  /** Text that follows the prompt: the event. */
  readonly addition?: string | null;
  /** Number of automations before it in a chain of sessions that start automations. */
  readonly depth?: number;
  readonly scheduledFor?: Date | null;
  /** True: a failed run is retried; otherwise it stays as it is. */
  readonly isRetry?: boolean;
  /** The reason why the run is only recorded as skipped. */
  readonly skip?: string;
}

/** A locked automation with the data for a run. It needs no viewer, because the automation acts as its owner. */
export interface LockedAutomation {
  readonly automation: AutomationRecord;
  readonly organization: OrganizationRecord;
  readonly isOrganizationGone: boolean;
}

/**
 * Locks the automation of an unprefixed id, with its organization, until the transaction ends. Throws NOT_FOUND for a
 * deleted one.
 */
export async function lockForRun(tx: Transaction, id: string): Promise<LockedAutomation> {
  const [row] = await tx.query<AutomationRecord & OfOrganization>(
    `select ${automationColumns}, o.deleted_at is not null as "isOrganizationGone", o.enterprise_id as "enterpriseId",
            o.name as "organizationName", o.max_cycle_acu_limit as "maxCycleAcuLimit",
            o.max_session_acu_limit as "maxSessionAcuLimit",
            o.max_concurrent_sessions as "maxConcurrentSessions", o.max_queued_sessions as "maxQueuedSessions",
            o.max_storage_mb as "maxStorageMb", o.max_tokens_per_day as "maxTokensPerDay", o.default_agent as "defaultAgent",
            o.default_repositories as "defaultRepositories", o.branch_template as "branchTemplate",
            o.created_at as "organizationCreatedAt", o.updated_at as "organizationUpdatedAt"
       from automation a join organization o on o.id = a.organization_id
      where a.id = $1 and a.deleted_at is null for update of a`,
    [id],
  );
  if (!row) throw notFound('automation');
  const { isOrganizationGone, organizationName, organizationCreatedAt, organizationUpdatedAt, ...rest } = row;
  const { enterpriseId, maxCycleAcuLimit, maxSessionAcuLimit, maxConcurrentSessions, ...others } = rest;
  const {
    maxQueuedSessions,
    maxStorageMb,
    maxTokensPerDay,
    defaultAgent,
    defaultRepositories,
    branchTemplate,
    ...automation
  } = others;
  const organization: OrganizationRecord = {
    id: automation.organizationId,
    enterpriseId,
    name: organizationName,
    maxCycleAcuLimit,
    maxSessionAcuLimit,
    maxConcurrentSessions,
    maxQueuedSessions,
    maxStorageMb,
    maxTokensPerDay,
    defaultAgent,
    defaultRepositories,
    branchTemplate,
    createdAt: organizationCreatedAt,
    updatedAt: organizationUpdatedAt,
  };
  return { automation, organization, isOrganizationGone };
}

// The organization's columns, without those whose names the automation's columns have.
interface OfOrganization extends Omit<OrganizationRecord, 'id' | 'name' | 'createdAt' | 'updatedAt'> {
  readonly isOrganizationGone: boolean;
  readonly organizationName: string;
  readonly organizationCreatedAt: Date;
  readonly organizationUpdatedAt: Date;
}
