import { DomainError } from '../domain/errors.ts';
import type { Viewer } from './viewer.ts';

/** How long a browser may give lasting access after its user showed the token. */
export const confirmationMs = 10 * 60 * 1_000;

/**
 * CONFIRMATION_REQUIRED unless the viewer has shown the token of its key: every caller with a token has; a browser that is
 * signed in to the console counts for {@link confirmationMs} after it sent the token. Acts that give lasting access or
 * control call this before they write: new keys, roles, webhooks and their secrets, the IP access list, automations, and
 * secrets of organizations. Their effect outlives the sign-in, so an attacker who takes over a browser must not be able to
 * do them.
 */
export function requireConfirmation({ viewer, now }: { readonly viewer: Viewer; readonly now: () => Date }): void {
  if (viewer.consoleSessionId === undefined) return;
  const { confirmedAt = null } = viewer;
  if (confirmedAt !== null && now().getTime() - confirmedAt.getTime() < confirmationMs) return;
  throw new DomainError(
    'CONFIRMATION_REQUIRED',
    'This gives lasting access or control. Confirm with the token that you signed in with; a confirmation counts for 10 minutes.',
  );
}
