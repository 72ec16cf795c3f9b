import { enterprisePermissions, organizationPermissions } from '../../auth/permissions.ts';
import { systemViewer } from '../../auth/viewer.ts';
import type { Context, Services } from '../context.ts';

/** The service itself as who acts, in an enterprise: for what happens to sessions without anybody's asking. */
export function asSystem(services: Services, enterpriseId: string): Context {
  const viewer = systemViewer(enterpriseId, [...enterprisePermissions, ...organizationPermissions]);
  // Not spread: the address in `url` fields is known only later.
  return Object.create(services, {
    viewer: { value: viewer, enumerable: true },
    address: { value: null, enumerable: true },
  });
}
