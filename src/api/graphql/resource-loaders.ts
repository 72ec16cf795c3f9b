import DataLoader from 'dataloader';
import { findAutomations } from '../../domain/automations/model/automations.ts';
import type { Context } from '../../domain/context.ts';
import { readWorkspaceStates } from '../../domain/execution/workspaces/request-deletion.ts';
import { ofAnySession } from '../../domain/identity/organizations/enterprise-scope.ts';
import type { ScopedKey } from '../../domain/identity/organizations/scope.ts';
import { findFolderPaths } from '../../domain/library/knowledge/folder-paths.ts';
import { findFolders, findFoldersByPath } from '../../domain/library/knowledge/folders.ts';
import { findNotesByMacro } from '../../domain/library/knowledge/notes.ts';
import { findPlaybooks, findPlaybooksByMacro } from '../../domain/library/playbooks/playbooks.ts';
import { findSecretsByKey, type SecretKey } from '../../domain/library/secrets/secrets.ts';
import { findAttachments } from '../../domain/sessions/attachments/attachments.ts';
import { readInsights, type SessionInsights } from '../../domain/sessions/insights.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import { findWebhookEndpoints } from '../../domain/webhooks/endpoints.ts';

/** A loader whose keys are objects: keys with equal members are one key. */
export const byKey = <K extends object, T>(find: (keys: readonly K[]) => Promise<(T | null)[]>) =>
  new DataLoader<K, T | null, string>(find, { cacheKeyFn: (key) => JSON.stringify(key) });

type Session = Pick<SessionRecord, 'id' | 'acusConsumed'>;

/**
 * Creates loaders for the resources that sessions use. Each runs one statement for all keys requested in the same tick.
 */
export function createResourceLoaders(context: Context) {
  return {
    folders: new DataLoader((ids: readonly string[]) => findFolders(context, ids)),
    /** By ids of folders that were already loaded for the viewer. */
    folderPaths: new DataLoader(async (ids: readonly string[]) => {
      const paths = await findFolderPaths(
        context,
        ids.map((folderId) => ({ folderId })),
      );
      return ids.map((id) => paths.get(id) ?? null);
    }),
    notesByMacro: byKey((keys: readonly ScopedKey[]) => findNotesByMacro(context, keys)),
    foldersByPath: byKey((keys: readonly ScopedKey[]) => findFoldersByPath(context, keys)),
    playbooksByMacro: byKey((keys: readonly ScopedKey[]) => findPlaybooksByMacro(context, keys)),
    secretsByKey: byKey((keys: readonly SecretKey[]) => findSecretsByKey(context, keys)),
    automations: new DataLoader((ids: readonly string[]) => findAutomations(context, ids)),
    playbooks: new DataLoader((ids: readonly string[]) => findPlaybooks(context, ids)),
    webhookEndpoints: new DataLoader((ids: readonly string[]) => findWebhookEndpoints(context, ids)),
    attachments: new DataLoader((ids: readonly string[]) => findAttachments(ofAnySession(context, 'view'), ids)),
    /** By ids of sessions that the viewer may see. */
    workspaceStates: new DataLoader((ids: readonly string[]) => readWorkspaceStates(context, ids)),
    /** For sessions that the viewer may see. */
    insights: new DataLoader<Session, SessionInsights, string>((sessions) => readInsights(context, sessions), {
      cacheKeyFn: ({ id }) => id,
    }),
  };
}
