import type { Transaction } from '../../store/store.ts';
import { notFound } from '../errors.ts';
import { type OrganizationRecord, organizationColumns } from '../organizations/use-organization.ts';
import { type AutomationRecord, automationColumns } from './automations.ts';
import type { RunTrigger } from './runs.ts';

/** Why an automation fires. */
export interface FireCause {
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
export interface Firing {
  readonly automation: AutomationRecord;
  readonly organization: OrganizationRecord;
  readonly isOrganizationGone: boolean;
}

/** The automation of a bare id with its organization, locked until the transaction ends. NOT_FOUND for a deleted one. */
export async function lockForFiring(tx: Transaction, id: string): Promise<Firing> {
  const [automation] = await tx.query<AutomationRecord>(
    `select ${automationColumns} from automation a where a.id = $1 and a.deleted_at is null for update`,
    [id],
  );
  if (!automation) throw notFound('automation');
  const [row] = await tx.query<OrganizationRecord & { isGone: boolean }>(
    `select ${organizationColumns}, o.deleted_at is not null as "isGone" from organization o where o.id = $1`,
    [automation.organizationId],
  );
  if (!row) throw new Error(`The organization of automation ${id} has no row.`);
  const { isGone: isOrganizationGone, ...organization } = row;
  return { automation, organization, isOrganizationGone };
}
