import { nestsDeeper, withoutDepth } from '../../common/json-depth.ts';

/** Translates between the client's and the server's ids of one socket's operations. */
export interface OperationIds {
  /** Replaces the client's id in a message by the server's. */
  fromClient(text: string): string;
  /**
   * Replaces the server's id in a message by the client's; null if the client has completed the operation and must get
   * no more messages for it.
   */
  toClient(text: string): string | null;
  /** The start of a result message to the client, up to the result; null as for {@link toClient}. */
  nextTo(id: string): string | null;
  /** Translates the reason of a close, in which graphql-ws may name an operation. */
  reasonToClient(reason: string | undefined): string | undefined;
}

/** All ids have the same length, so that they are at the same position in every message. */
const idLength = 12;
/** Replaces the text of an operation that nests too deeply. */
export const tooDeep = '# too deep';
/** The start of every message about an operation: graphql-ws writes the id first. */
const beginning = '{"id":"';

/**
 * Gives each operation of a socket a unique id. graphql-ws uses the client's ids, and a client may reuse an id as soon
 * as it has completed the operation. An operation that is still ending would then be taken for the new one, or would
 * end it. `onLeave` is called with the server's id when the client completes an operation.
 */
export function createOperationIds(onLeave: (id: string) => void): OperationIds {
  const serverIds = new Map<string, string>();
  const clientIds = new Map<string, string>();
  let count = 0;

  const forget = (id: string) => {
    const clientId = clientIds.get(id);
    if (clientId === undefined) return;
    clientIds.delete(id);
    serverIds.delete(clientId);
  };

  return {
    fromClient(text) {
      const isDeep = nestsDeeper(text);
      const message = readMessage(isDeep ? withoutDepth(text) : text);
      // graphql-ws closes the socket after invalid JSON.
      if (!message) return isDeep ? tooDeep : text;
      let id = serverIds.get(message.id);
      if (message.type === 'subscribe' && id === undefined) {
        id = String(count++).padStart(idLength, '0');
        serverIds.set(message.id, id);
        clientIds.set(id, message.id);
      }
      if (message.type === 'complete' && id !== undefined) {
        forget(id);
        onLeave(id);
      }
      // An unknown operation: graphql-ws does not answer such a message either.
      if (id === undefined) return isDeep ? JSON.stringify({ ...message, payload: undefined }) : text;
      if (isDeep) return JSON.stringify({ type: message.type, id, payload: { query: tooDeep } });
      return JSON.stringify({ ...message, ...withText(message), id });
    },
    toClient(text) {
      if (!text.startsWith(beginning)) return text;
      const end = beginning.length + idLength;
      const id = text.slice(beginning.length, end);
      const clientId = clientIds.get(id);
      if (clientId === undefined) return null;
      if (!text.startsWith('","type":"next"', end)) forget(id);
      return `{"id":${JSON.stringify(clientId)}${text.slice(end + 1)}`;
    },
    nextTo(id) {
      const clientId = clientIds.get(id);
      return clientId === undefined ? null : `{"id":${JSON.stringify(clientId)},"type":"next","payload":`;
    },
    reasonToClient(reason) {
      return reason?.replace(/\d{12}/, (id) => clientIds.get(id) ?? id);
    },
  };
}

// graphql-ws closes a socket after an operation without a text, which is valid if it names a trusted document.
function withText({ type, payload }: { type: string; payload?: unknown }): { payload?: unknown } {
  if (type !== 'subscribe' || typeof payload !== 'object' || payload === null || Array.isArray(payload)) return {};
  return 'query' in payload && payload.query !== null ? {} : { payload: { ...payload, query: '' } };
}

// graphql-ws closes the socket with a reason after messages of any other form.
function readMessage(text: string): { id: string; type: string } | null {
  let message: unknown = null;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== 'object' || message === null) return null;
  const { id, type } = message as { id?: unknown; type?: unknown };
  if (typeof id !== 'string' || id === '' || (type !== 'subscribe' && type !== 'complete')) return null;
  return message as { id: string; type: string };
}
