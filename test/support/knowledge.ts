import type { Context } from '../../src/domain/context.ts';
import type { Scope } from '../../src/domain/identity/organizations/scope.ts';
import { createFolder } from '../../src/domain/library/knowledge/change-folders.ts';
import { call, type TestApp } from './app.ts';

/** Creates the folders of a path such as `Backend/Databases`, none of which exist; returns the unprefixed id of the last. */
export async function makeFolders(context: Context, scope: Scope, path: string): Promise<string> {
  let parentId: string | null = null;
  for (const name of path.split('/')) parentId = (await createFolder(context, scope, { name, parentId })).id;
  if (parentId === null) throw new Error('A path has at least one name.');
  return parentId;
}

/** Returns the audit log entries of an organization about one kind of object, oldest first; null: of the enterprise's own log. */
export async function readAuditActions(
  test: TestApp,
  organizationId: string | null,
  actionSuffix: string,
): Promise<{ action: string; targetId: string; data: Record<string, unknown> }[]> {
  return test.app.services.store.query(
    `select action, target_id as "targetId", data from audit_entry
      where coalesce(organization_id, '') = coalesce($1::text, '') and action like '%' || $2::text order by created_at, id`,
    [organizationId, actionSuffix],
  );
}

/** Returns all ids of a version 3 list in its order; `afterPage` runs between two pages. */
export async function readIds(
  test: TestApp,
  list: { readonly token: string; readonly path: string; readonly id: string },
  afterPage?: () => Promise<unknown>,
): Promise<string[]> {
  const ids: string[] = [];
  const more = list.path.includes('?') ? '&' : '?';
  let after = '';
  for (;;) {
    const { status, body } = await call(test, list.token, 'GET', `${list.path}${more}first=2${after}`);
    if (status !== 200) throw new Error(JSON.stringify(body));
    ids.push(...body.items.map((item: Record<string, string>) => item[list.id]));
    if (!body.has_next_page) return ids;
    after = `&after=${body.end_cursor}`;
    await afterPage?.();
  }
}
