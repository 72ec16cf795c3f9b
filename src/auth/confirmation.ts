import { DomainError } from '../domain/errors.ts';
import type { Viewer } from './viewer.ts';

/** How long a browser may give lasting access after its user showed the token. */
export const confirmationMs = 10 * 60 * 1_000;

/**
 * CONFIRMATION_REQUIRED unless the viewer has shown the token of its key: every caller with a token has; a browser that is
 * signed in to the console counts for {@link confirmationMs} after it sent the token. Acts that give lasting access call
 * this before they write: new keys, roles, webhooks and their secrets, and the IP access list. What such an act gives
 * outlives the sign-in, so whoever takes over a browser must not be able to do it.
 */
export function requireConfirmation({ viewer, now }: { readonly viewer: Viewer; readonly now: () => Date }): void {
  if (viewer.consoleSessionId === undefined) return;
  const { confirmedAt = null } = viewer;
  if (confirmedAt !== null && now().getTime() - confirmedAt.getTime() < confirmationMs) return;
  throw new DomainError(
    'CONFIRMATION_REQUIRED',
    'This gives lasting access. Confirm with the token that you signed in with; a confirmation counts for 10 minutes.',
  );
}
