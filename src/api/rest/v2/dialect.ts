import { DomainError } from '../../../common/errors.ts';
import type { Context } from '../../../domain/context.ts';
import type { Dialect } from '../dialect.ts';
import { earlierDialect } from '../earlier-dialect.ts';

/** Version 2: the administration of an enterprise, with the keys and errors of version 1. */
export const dialect: Dialect = {
  ...earlierDialect('v2'),
  title: 'Switchyard, version 2',
  description: 'Administration of the enterprise. Legacy: version 3 is the current one.',
  wireNames: {
    first: 'limit',
    timeAfter: 'start_date',
    timeBefore: 'end_date',
    name: 'display_name',
    maxCycleAcuLimit: 'acu_limit',
  },
};

/** The keys of administrators that an endpoint takes (docs/wire/v2.md#routes). */
export type AdministratorKey = 'personal' | 'personal or enterprise service';

/**
 * Throws FORBIDDEN unless the key is a personal key or, where `taken` allows it, a service key of the whole enterprise.
 * Permissions are checked separately.
 */
export function requireAdministratorKey({ viewer }: Context, taken: AdministratorKey): void {
  if (viewer.keyKind === 'PERSONAL') return;
  const isOfEnterprise = viewer.keyKind === 'SERVICE' && viewer.homeOrganizationId === null;
  if (taken === 'personal or enterprise service' && isOfEnterprise) return;
  throw new DomainError('FORBIDDEN', 'This route requires the key of an enterprise administrator.');
}
