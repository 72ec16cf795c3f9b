import { initGraphQLTada, type ResultOf, type TadaDocumentNode, type VariablesOf } from 'gql.tada';
import { print } from 'graphql';
import { call, type TestApp } from './app.ts';
import type { introspection } from './graphql-env.d.ts';

/** Declares documents that the compiler checks against schema.graphql: `gql('query { … }')`. */
export const gql = initGraphQLTada<{
  introspection: introspection;
  scalars: { DateTime: string; JSON: unknown; URI: string };
}>();

/** Runs a checked document over POST and returns its data; throws with the errors if there are any. */
export async function query<D extends TadaDocumentNode<any, any>>(
  test: Pick<TestApp, 'url'>,
  token: string,
  document: D,
  variables: VariablesOf<D>,
): Promise<ResultOf<D>> {
  const { body } = await call(test, token, 'POST', '/graphql', { query: print(document), variables });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data as ResultOf<D>;
}
