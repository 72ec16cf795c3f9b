import type { App } from '../../src/app.ts';

const ofKeys =
  /^\s*(?:update|delete from|insert into) (?:api_key|user_account|service_user|organization|role|role_assignment|enterprise)\b/;

/** Returns true for a statement of the authentication that may run at any time: the check for changed keys. */
export const isOfSigningIn = (sql: string): boolean => sql.includes('key_epoch');

/** Announces changes of keys that a test makes directly in the database, like the service announces its own. */
export function notifyKeyChanges({ services: { store, keyCache } }: App): void {
  const { execute } = store;
  store.execute = async <Row>(sql: string, values?: readonly unknown[]) => {
    const rows = await execute<Row>(sql, values);
    if (!ofKeys.test(sql)) return rows;
    await execute('update installation set key_epoch = key_epoch + 1');
    keyCache.invalidate();
    return rows;
  };
}
