import type { Services } from '../context.ts';
import { createAppManifest } from './app-manifest.ts';

/** The form that a browser posts to GitHub. It contains no secret besides the state. */
export interface RegistrationForm {
  readonly host: string;
  /** The origin of `action`. */
  readonly origin: string;
  readonly action: string;
  /** JSON. */
  readonly manifest: string;
}

/** The syntax of a state. */
export const stateSyntax = /^[a-z2-7]{52}$/;

/**
 * Returns the form of a registration by its state, which is the only condition; null for one that is unknown, used or over. Throws ForgeError
 * INVALID_CONNECTION if its host is no longer allowed.
 */
export async function findRegistrationForm(
  { store, keyring, forges, now, baseUrl }: Services,
  state: string,
): Promise<RegistrationForm | null> {
  if (!stateSyntax.test(state)) return null;
  const [row] = await store.query<{ id: string; host: string; organization: string | null }>(
    `select id, host, github_organization as organization from github_app_registration
      where state_hash = any($1) and used_at is null and expires_at > $2::timestamptz`,
    [keyring.tokenHashes(state), now()],
  );
  if (!row) return null;
  const { id, organization } = row;
  const { host, origin, formUrl } = forges.githubApps(row.host);
  const manifest = JSON.stringify(createAppManifest({ baseUrl, host, connectionId: id, organization }));
  return { host, origin, action: formUrl(organization, state), manifest };
}

/** Deletes registrations that are over. */
export async function forgetRegistrations({ store, now }: Pick<Services, 'store' | 'now'>): Promise<void> {
  await store.execute('delete from github_app_registration where expires_at <= $1::timestamptz', [now()]);
}
