import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { parseBounded } from './document-limits.ts';
import type { RequestErrorCode } from './error-codes.ts';
import { findProblems } from './validate-document.ts';

/** Documents that the operator registered, by id. */
export interface TrustedDocuments {
  /** True if only these documents may run. */
  readonly isOnly: boolean;
  readonly count: number;
  /** The document of an id: the manifest's own id, or the SHA-256 of the text with or without the prefix `sha256:`. */
  find(id: string): string | null;
  /** True if the text is a registered document. */
  has(text: string): boolean;
}

/** For a service without a manifest. */
export const noTrustedDocuments: TrustedDocuments = { isOnly: false, count: 0, find: () => null, has: () => false };

/** The maximum number of problems in one error message. */
const maxProblems = 5;

const manifest = z.union([
  // Relay's `persistConfig.file`, and the "persisted-documents.json" of @graphql-codegen's client preset.
  z.record(z.string(), z.string()),
  // Apollo's generate-persisted-query-manifest.
  z
    .object({ operations: z.array(z.object({ id: z.string(), body: z.string() })) })
    .transform(({ operations }) => Object.fromEntries(operations.map(({ id, body }) => [id, body]))),
]);

/**
 * Reads a manifest. Rejects with a message for the operator that names the file and the documents that could not run: a
 * document of a released client must not start to fail silently.
 */
export async function loadTrustedDocuments(
  options: { readonly path: string | null; readonly isOnly: boolean },
  schema: GraphQLSchema,
): Promise<TrustedDocuments> {
  if (options.path === null) return noTrustedDocuments;
  const byId = await readManifest(options.path);
  const problems = [...byId].flatMap(([id, text]) => problemOf(schema, id, text));
  if (problems.length > 0) {
    const lines = problems.slice(0, maxProblems).join('\n  ');
    const more = problems.length > maxProblems ? `\n  and ${problems.length - maxProblems} more` : '';
    throw new Error(
      `TRUSTED_DOCUMENTS: ${options.path} has documents that this service does not run:\n  ${lines}${more}`,
    );
  }
  const texts = new Set(byId.values());
  const byHash = new Map([...byId.values()].map((text) => [createHash('sha256').update(text).digest('hex'), text]));
  return {
    isOnly: options.isOnly,
    count: byId.size,
    find: (id) => byId.get(id) ?? byHash.get(id.replace(/^sha256:/, '').toLowerCase()) ?? null,
    has: (text) => texts.has(text),
  };
}

async function readManifest(path: string): Promise<ReadonlyMap<string, string>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`TRUSTED_DOCUMENTS: ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`, {
      cause: error,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`TRUSTED_DOCUMENTS: ${path} is not JSON.`, { cause: error });
  }
  const read = manifest.safeParse(json);
  if (read.success) return new Map(Object.entries(read.data));
  throw new Error(
    `TRUSTED_DOCUMENTS: ${path} must be an object of ids and documents, {"id": "query …"}, or {"operations": [{"id", "body"}]}.`,
  );
}

function problemOf(schema: GraphQLSchema, id: string, text: string): string[] {
  const complain = (error: GraphQLError | undefined | null) => (error ? [`"${id}": ${error.message}`] : []);
  try {
    const document = parseBounded(text);
    return complain(findProblems(schema, document, true)[0]);
  } catch (error) {
    if (error instanceof GraphQLError) return complain(error);
    throw error;
  }
}

/** Request members for a document id: the one of the GraphQL over HTTP draft, and Relay's. */
const idNames = ['documentId', 'doc_id', 'id'];

/**
 * The document to run; null if the request has neither a text nor an id. Throws errors on which clients act: Apollo's
 * client sends the text after PERSISTED_QUERY_NOT_FOUND, and stops using ids after PERSISTED_QUERY_NOT_SUPPORTED.
 */
export function documentOf(trusted: TrustedDocuments, params: Readonly<Record<string, unknown>>): string | null {
  const id = idOf(params);
  const found = id === null ? null : trusted.find(id);
  if (found !== null) return found;
  const query = typeof params.query === 'string' && params.query !== '' ? params.query : null;
  if (trusted.isOnly && id === null) {
    throw refused('PERSISTED_QUERY_ONLY', 'This service runs trusted documents only. Send the "documentId" of one.');
  }
  if (id === null || (query !== null && !trusted.isOnly)) return query;
  throw trusted.count === 0
    ? refused('PERSISTED_QUERY_NOT_SUPPORTED', 'This service has no trusted documents: send the document as "query".')
    : refused(
        'PERSISTED_QUERY_NOT_FOUND',
        `There is no trusted document with the id ${JSON.stringify(id.slice(0, 100))}.`,
      );
}

// Apollo sends its id in the extensions.
function idOf(params: Readonly<Record<string, unknown>>): string | null {
  const { persistedQuery } = (params.extensions ?? {}) as { persistedQuery?: { sha256Hash?: unknown } | null };
  // Some clients use "id" for their own purposes; "documentId" belongs to GraphQL over HTTP only.
  const { documentId } = params;
  if (documentId != null && typeof documentId !== 'string') {
    throw refused('BAD_REQUEST', `"documentId" must be a string, but was ${JSON.stringify(documentId).slice(0, 60)}.`);
  }
  const candidates = [...idNames.map((name) => params[name]), persistedQuery?.sha256Hash];
  return (candidates.find((each) => typeof each === 'string' && each !== '') as string | undefined) ?? null;
}

function refused(code: RequestErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code, http: { status: 400 } } });
}
