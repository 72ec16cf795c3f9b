import { enterprisePermissions, organizationPermissions } from '../../auth/permissions.ts';
import { systemViewer } from '../../auth/viewer.ts';
import type { Context, Services } from '../context.ts';

/**
 * Creates a context in which the service itself acts in an enterprise, for changes of sessions that no caller
 * requested.
 */
export function asSystem(services: Services, enterpriseId: string): Context {
  const viewer = systemViewer(enterpriseId, [...enterprisePermissions, ...organizationPermissions]);
  // Not spread: the address in `url` fields is known only later.
  return Object.create(services, {
    viewer: { value: viewer, enumerable: true },
    address: { value: null, enumerable: true },
  });
}
