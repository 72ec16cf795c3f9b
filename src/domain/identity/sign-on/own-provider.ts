import type { Viewer } from '../../../auth/viewer.ts';
import type { Services } from '../../context.ts';

/** A provider as pages show it. */
export interface ShownProvider {
  readonly id: string;
  readonly label: string;
}

/** Returns the provider that the user of a console session signed in with; null: a key did, or the provider is no longer configured. */
export async function findSignOnProvider(
  { store, identityProviders }: Pick<Services, 'store' | 'identityProviders'>,
  { consoleSessionId }: Viewer,
): Promise<ShownProvider | null> {
  const [row] = await store.query<{ providerId: string }>(
    `select i.provider_id as "providerId" from console_session c join user_identity i on i.id = c.user_identity_id where c.id = $1`,
    [consoleSessionId ?? null],
  );
  const provider = row === undefined ? undefined : identityProviders.get(row.providerId);
  return provider === undefined ? null : { id: provider.settings.id, label: provider.settings.label };
}
