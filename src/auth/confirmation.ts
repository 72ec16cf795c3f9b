import { DomainError } from '../common/errors.ts';
import type { Viewer } from './viewer.ts';

/** Time for which a browser may grant lasting access after its user has entered the token. */
export const confirmationMs = 10 * 60 * 1_000;

/**
 * Throws CONFIRMATION_REQUIRED unless the viewer has presented the token of its key. Every caller that sends a token
 * has. A browser that is signed in to the console counts as confirmed for {@link confirmationMs} after it sent the
 * token, or after its user entered credentials at an identity provider. Actions that grant lasting access or control call this before they write: new keys, roles, webhooks and their
 * secrets, the IP access list, automations, and secrets of organizations. Their effect outlives the sign-in, so an
 * attacker who takes over a browser must not be able to perform them.
 */
export function requireConfirmation({ viewer, now }: { readonly viewer: Viewer; readonly now: () => Date }): void {
  if (viewer.consoleSessionId === undefined) return;
  const { confirmedAt = null } = viewer;
  if (confirmedAt !== null && now().getTime() - confirmedAt.getTime() < confirmationMs) return;
  const how =
    viewer.apiKeyId === null
      ? 'by signing in again, or with a personal access token of yours'
      : 'with the token that you signed in with';
  throw new DomainError(
    'CONFIRMATION_REQUIRED',
    `This gives lasting access or control. Confirm ${how}; a confirmation counts for 10 minutes.`,
  );
}
