import { nestsDeeper, withoutDepth } from '../../domain/json-depth.ts';

/** The ids of one socket's operations, as the client has them and as the server knows them. */
export interface OperationIds {
  /** A message from the client, with the server's id in it. */
  fromClient(text: string): string;
  /** A message to the client, with its own id in it; null when it has left the operation and must hear no more of it. */
  toClient(text: string): string | null;
  /** How a message with a result begins that goes to the client, up to the result; null as for {@link toClient}. */
  nextTo(id: string): string | null;
  /** The reason of a close, in which graphql-ws may name an operation. */
  reasonToClient(reason: string | undefined): string | undefined;
}

/** All of one length, so that they are found at one place in every message. */
const idLength = 12;
/** What stands for the text of an operation that nests too deep to be handed on. */
export const tooDeep = '# too deep';
/** How every message about an operation begins: graphql-ws writes the id first. */
const beginning = '{"id":"';

/**
 * Gives each operation of a socket an id that no other has had. graphql-ws knows operations by the ids of the client, which
 * may take one again as soon as it has completed it: an operation that has not quite ended would then be taken for the new
 * one, or would end it. `onLeave` is called with the server's id when the client completes an operation.
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
      // graphql-ws closes the socket for what is no JSON.
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
      // An operation that is not there: graphql-ws answers nothing to that either.
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

// graphql-ws closes a socket for an operation without a text, where a trusted document is named instead.
function withText({ type, payload }: { type: string; payload?: unknown }): { payload?: unknown } {
  if (type !== 'subscribe' || typeof payload !== 'object' || payload === null || Array.isArray(payload)) return {};
  return 'query' in payload && payload.query !== null ? {} : { payload: { ...payload, query: '' } };
}

// What is not of this form is left to graphql-ws, which closes the socket and says why.
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
