import { permissionFor } from '../../../auth/permissions.ts';
import type { Viewer } from '../../../auth/viewer.ts';
import { isDomainAllowed } from '../../../oidc/settings.ts';
import type { Services } from '../../context.ts';
import { SignOnError } from './refusals.ts';

/**
 * Throws TOKEN_REFUSED for a user who has to sign in at an identity provider: one that refuses tokens answers for the domain of the
 * user. Administrators of the enterprise may always sign in with a token, so that they can repair the sign-on.
 */
export function requireTokenAllowed(
  { identityProviders }: Pick<Services, 'identityProviders'>,
  { principal, enterprisePermissions }: Viewer,
): void {
  if (principal.type !== 'USER' || enterprisePermissions.has(permissionFor.changeIpAccessList)) return;
  for (const { settings } of identityProviders.values()) {
    if (settings.refuseTokens && isDomainAllowed(settings, principal.email)) throw new SignOnError('TOKEN_REFUSED');
  }
}
