import type { ServerResponse } from 'node:http';
import type { ProviderGateway } from '../provider.ts';

/** A status of the gateway's own responses. */
export type RefusalStatus = 400 | 401 | 403 | 413 | 417 | 429 | 502;

/** Error types of OpenAI and Anthropic, and the status words of Gemini. */
const errorTypes: Record<
  RefusalStatus,
  { readonly openai: string; readonly anthropic: string; readonly gemini: string }
> = {
  400: { openai: 'invalid_request_error', anthropic: 'invalid_request_error', gemini: 'INVALID_ARGUMENT' },
  401: { openai: 'invalid_request_error', anthropic: 'authentication_error', gemini: 'UNAUTHENTICATED' },
  403: { openai: 'invalid_request_error', anthropic: 'permission_error', gemini: 'PERMISSION_DENIED' },
  413: { openai: 'invalid_request_error', anthropic: 'request_too_large', gemini: 'INVALID_ARGUMENT' },
  417: { openai: 'invalid_request_error', anthropic: 'invalid_request_error', gemini: 'INVALID_ARGUMENT' },
  429: { openai: 'rate_limit_error', anthropic: 'rate_limit_error', gemini: 'RESOURCE_EXHAUSTED' },
  502: { openai: 'server_error', anthropic: 'api_error', gemini: 'UNAVAILABLE' },
};

/**
 * Sends an error of the gateway itself, in the form of the provider's own errors, and closes the connection, even if
 * the request's body has not ended.
 */
export function refuse(
  outgoing: ServerResponse,
  api: ProviderGateway['api'],
  status: RefusalStatus,
  message: string,
): void {
  // The rate limit ends as soon as one of the run's own calls ends, which the agent's client cannot know.
  const retry = status === 429 ? { 'retry-after': '1' } : {};
  closeAfter(outgoing);
  sendError(outgoing, api, status, message, errorTypes[status][api], retry);
}

/**
 * Closes the connection when the response has been sent, and reads nothing more from it: neither a body nor a further
 * request.
 */
export function closeAfter(outgoing: ServerResponse): void {
  outgoing.setHeader('connection', 'close');
  const { socket } = outgoing.req;
  // Node alone would wait until the agent has closed its side, and read on meanwhile.
  outgoing.once('finish', () => socket.destroy());
}

/** Sends a provider's own error status with a message of the gateway, if the provider's message cannot be passed on. */
export function replaceError(
  outgoing: ServerResponse,
  api: ProviderGateway['api'],
  status: number,
  headers: Readonly<Record<string, string>>,
): void {
  const isOurs = Object.hasOwn(errorTypes, status);
  const type = errorTypes[isOurs ? (status as RefusalStatus) : 502][api];
  sendError(outgoing, api, status, `The provider answered with status ${status}.`, type, headers);
}

function sendError(
  outgoing: ServerResponse,
  api: ProviderGateway['api'],
  status: number,
  message: string,
  type: string,
  headers: Readonly<Record<string, string>>,
): void {
  const body = {
    openai: { error: { message, type, param: null, code: null } },
    anthropic: { type: 'error', error: { type, message } },
    gemini: { error: { code: status, message, status: type } },
  }[api];
  outgoing.writeHead(status, { ...headers, 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(body));
}
