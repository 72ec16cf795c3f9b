import { graphql, type TestApp } from './app.ts';
import { isOfSigningIn } from './key-changes.ts';
import { watchReads } from './test-store.ts';

/** Runs a document; returns its data and its statements, without those of the authentication. */
export async function statementsOf(
  test: TestApp,
  token: string,
  document: string,
  variables: Record<string, unknown> = {},
): Promise<{ data: any; statements: string[] }> {
  const { store } = test.app.services;
  const statements: string[] = [];
  const stop = watchReads(store, (sql) => {
    if (!isOfSigningIn(sql)) statements.push(sql.replaceAll(/\s+/g, ' ').trim().slice(0, 200));
  });
  try {
    const { data, errors } = await graphql(test, token, document, variables);
    if (errors) throw new Error(JSON.stringify(errors));
    return { data, statements };
  } finally {
    stop();
  }
}
