import type { App } from '../../src/app.ts';

const ofKeys =
  /^\s*(?:update|delete from|insert into) (?:api_key|user_account|service_user|organization|role|role_assignment|enterprise)\b/;

/** Whether a statement is one that signing in may take, or not: what is known of keys is asked for now and then. */
export const isOfSigningIn = (sql: string): boolean => sql.includes('key_epoch');

/** What a test changes of keys in the database itself is told as the service tells of its own acts. */
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
