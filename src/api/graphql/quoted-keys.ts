import { GraphQLError } from 'graphql';

/** Characters of a word that could be a key: longer than names of the schema with digits, and than most ids. */
const minKeyLength = 20;

const words = new RegExp(`[\\w+/=.-]{${minKeyLength},}`, 'g');

/**
 * Shortens what could be a key in the message of an error about a document: somebody may have pasted one without quotes, or in
 * the wrong place. The position of the error still leads to it. The parser's description of a string loses its content.
 */
export function hideKeys(message: string): string {
  return message
    .replace(/((?:found|Unexpected) (?:Block)?String) "[\s\S]*"/, '$1')
    .replace(words, (word) => (/\d/.test(word) ? `${word.slice(0, 4)}…` : word));
}

/** Copies an error about a document, with another message. */
export function withMessage(error: GraphQLError, message: string): GraphQLError {
  const { nodes, source, positions, path, originalError, extensions } = error;
  const location = { nodes: nodes ?? null, source: source ?? null, positions: positions ?? null, path: path ?? null };
  return new GraphQLError(message, { ...location, originalError: originalError ?? null, extensions });
}
