import { randomBytes } from 'node:crypto';
import { requireConfirmation } from '../../auth/confirmation.ts';
import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { changedBy } from '../authors.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { auditConnection, lockConnection, readSecrets, seal, writeConnection } from './change-git-connections.ts';
import { checkConnection } from './connection-input.ts';
import { type GitConnectionRecord, getGitConnection } from './git-connections.ts';

/** A connection with the secret of its webhooks, which is null when the call is replayed. */
export interface RotatedConnection {
  readonly gitConnection: GitConnectionRecord;
  readonly webhookSecret: string | null;
}

/**
 * Replaces the secret of a connection's webhooks by a random one and returns it once. The secret before is invalid at once.
 * Throws FORBIDDEN, NOT_FOUND, IDEMPOTENCY_CONFLICT, and INVALID_INPUT for a kind without webhooks.
 */
export async function rotateGitConnectionWebhookSecret(
  context: Context,
  id: string,
  options: CreateOptions = {},
): Promise<RotatedConnection> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitConnections);
  const seen = await getGitConnection(context, id);
  requireConfirmation(context);
  return context.store.transact(async (tx) => {
    const before = await lockConnection(tx, seen.enterpriseId, seen.id);
    const operation = 'rotateGitConnectionWebhookSecret';
    const claim = { scope: seen.enterpriseId, operation, input: { gitConnectionId: before.id }, resultId: before.id };
    const isReplay = (await findReplay(context, tx, options, claim)) !== null;
    if (isReplay) return { gitConnection: before, webhookSecret: null };
    // Not of the form of GitLab's signing tokens, which older versions of GitLab do not know.
    const webhookSecret = randomBytes(32).toString('hex');
    const secrets = { ...(await readSecrets(context, tx, before)), webhookSecret };
    checkConnection(context, before, secrets);
    const change = { hasWebhookSecret: true, ...changedBy(context, before) };
    await writeConnection(tx, before.id, { ...change, sealed: seal(context, before, secrets) });
    await auditConnection(context, tx, 'update_git_connection', before, { changed: 'webhookSecret' });
    return { gitConnection: { ...before, ...change, hasCredential: true }, webhookSecret };
  });
}
