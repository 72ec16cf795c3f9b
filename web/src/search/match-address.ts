import { sessionAddress } from '../session/address.ts';

/** The path of a session's page at an entry that a search found, with the search open. */
export function matchAddress(sessionId: string, cursor: string, query: string): string {
  return `${sessionAddress(sessionId)}?${new URLSearchParams({ entry: cursor, search: query })}`;
}
