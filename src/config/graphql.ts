import { resolve } from 'node:path';
import type { z } from 'zod';
import { flag, integer, text } from './forms.ts';

/** Variables for GraphQL. */
export const graphqlVariables = {
  /** Allows introspection. */
  INTROSPECTION: flag(true),
  /** Serves browsers an explorer at /graphql. */
  EXPLORER: flag(true),
  /** A file of GraphQL documents that clients send by id. */
  TRUSTED_DOCUMENTS: text().optional(),
  /** Refuses all other documents. */
  TRUSTED_DOCUMENTS_ONLY: flag(false),
  /** The maximum heap for cached documents, in MB. */
  GRAPHQL_CACHE_MB: integer({ min: 1, max: 4_096 }).default(64),
};

type Variables = z.output<z.ZodObject<typeof graphqlVariables>>;

/** Configuration of GraphQL. */
export interface GraphqlConfig {
  /** Allows introspection. */
  readonly isIntrospectable: boolean;
  readonly hasExplorer: boolean;
  /** The maximum heap for cached documents, in bytes. */
  readonly graphqlCacheBytes: number;
  /** The file of trusted documents (absolute; null: none). If `isOnly`, all other documents are refused. */
  readonly trustedDocuments: { readonly path: string | null; readonly isOnly: boolean };
}

/** Returns a sentence for each contradiction among {@link graphqlVariables}. */
export function findGraphqlProblems(env: Variables): string[] {
  return env.TRUSTED_DOCUMENTS_ONLY && env.TRUSTED_DOCUMENTS === undefined
    ? ['TRUSTED_DOCUMENTS_ONLY requires TRUSTED_DOCUMENTS: without it, no operation could run.']
    : [];
}

/** Converts {@link graphqlVariables} to the service's names. */
export function readGraphqlConfig(env: Variables): GraphqlConfig {
  return {
    isIntrospectable: env.INTROSPECTION,
    hasExplorer: env.EXPLORER,
    graphqlCacheBytes: env.GRAPHQL_CACHE_MB * 1_048_576,
    trustedDocuments: {
      path: env.TRUSTED_DOCUMENTS === undefined ? null : resolve(env.TRUSTED_DOCUMENTS),
      isOnly: env.TRUSTED_DOCUMENTS_ONLY,
    },
  };
}
