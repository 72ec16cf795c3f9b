import {
  type FetchFunction,
  type GraphQLResponse,
  Observable,
  type RelayFieldLogger,
  type RequestParameters,
  type SubscribeFunction,
  type Variables,
} from 'relay-runtime';
import { common } from '../texts/common.ts';
import { network as texts } from '../texts/relay.ts';
import { withPermissionNames } from '../ui/permission-text.ts';
import { confirmSignIn } from './confirm.ts';
import { checkConnection, lossCount, markReachable } from './connectivity.ts';
import { liveClient } from './live-client.ts';
import { consoleHeaders, isSignedInSince, pageSecret } from './page-secret.ts';
import { syncSession } from './session-sync.ts';
import { notifySignedOut } from './signed-out.ts';
import type { ViewerContext } from './viewer.ts';

/** An error response of the service, with its message. */
export class ServiceError extends Error {
  /** The service's code (docs/errors.md); HTTP_… if it sent none. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
  }
}

/** The service could not be reached at all: worth an automatic retry. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super(common.notReachable, { cause });
    this.name = 'UnreachableError';
  }
}

interface Failure {
  readonly message: string;
  readonly extensions?: { readonly code?: string };
}

interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly Failure[];
}

async function post({ text, name }: RequestParameters, variables: Variables, { signIn }: ViewerContext) {
  const lossesBefore = lossCount();
  const response = await fetch('/graphql', {
    method: 'POST',
    credentials: 'same-origin',
    headers: {
      'content-type': 'application/json',
      ...consoleHeaders(),
      // Sent so that the service refuses the request if the cookie belongs to another sign-in than the page.
      ...(signIn === null ? {} : { 'switchyard-sign-in': signIn }),
    },
    body: JSON.stringify({ query: text, operationName: name, variables }),
  }).catch((error: unknown) => {
    void checkConnection();
    throw new UnreachableError(error);
  });
  if (response.status < 502) markReachable(lossesBefore);
  return { response, body: (await response.json().catch(() => null)) as Answer | null };
}

/** Sends a page's queries and mutations with both halves of the sign-in. */
export const fetchFor =
  (viewerContext: ViewerContext): FetchFunction =>
  async (parameters, variables): Promise<GraphQLResponse> => {
    let secret = pageSecret();
    let { response, body } = await post(parameters, variables, viewerContext);
    // Refused before anything was done.
    while (response.status === 401 && viewerContext.signIn === null && isSignedInSince(secret)) {
      secret = pageSecret();
      ({ response, body } = await post(parameters, variables, viewerContext));
    }
    if (response.status === 401) {
      // Refused before anything was done: repeated once if the same user is signed in.
      if (viewerContext.signIn === null) notifySignedOut();
      else if ((await syncSession()) === 'same')
        ({ response, body } = await post(parameters, variables, viewerContext));
    }
    // Nothing was written: repeated once after the user has confirmed with the token.
    if (codeOf(body) === 'CONFIRMATION_REQUIRED' && (await confirmSignIn())) {
      ({ response, body } = await post(parameters, variables, viewerContext));
    }
    viewerContext.signIn ??= response.headers.get('switchyard-sign-in');
    const [first] = body?.errors ?? [];
    if (body === null && response.status >= 502) throw new UnreachableError(response.status);
    if (body === null)
      throw new ServiceError(`The service responded with status ${response.status}.`, `HTTP_${response.status}`);
    // A nested field that the viewer may not read is null; the page hides it or throws where it reads it
    // (@throwOnFieldError). If the requested object itself is missing, the page would claim that it does not exist, so
    // this throws.
    const hasSomething = body.data && Object.values(body.data).every(isSomething);
    if (first && !hasSomething) throw toServiceError(first, `HTTP_${response.status}`);
    return { data: body.data, errors: body.errors } as unknown as GraphQLResponse;
  };

/** Throws the service's message where a page reads a required field that has an error. */
export const throwFieldErrors: RelayFieldLogger = (event) => {
  if (event.kind === 'relay_field_payload.error' && event.shouldThrow && !event.handled) {
    throw toServiceError(event.error as Failure, '');
  }
};

const toServiceError = ({ message, extensions }: Failure, otherwise: string) =>
  new ServiceError(withPermissionNames(message), extensions?.code ?? otherwise);

// An object with nothing but its name, such as a page of a list, counts as missing.
function isSomething(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value !== null;
  return Object.entries(value).some(([name, each]) => each !== null && name !== 'id' && name !== '__typename');
}

const codeOf = (body: Answer | null) => body?.errors?.[0]?.extensions?.code;

/**
 * Subscribes over the one WebSocket. Ends with an error when the connection closes: the subscriber knows its cursor.
 */
export const subscribeOperation: SubscribeFunction = ({ text, name }, variables) =>
  Observable.create((sink) =>
    liveClient.subscribe(
      { query: text ?? '', operationName: name, variables },
      {
        next: ({ data, errors }) => {
          if (errors?.[0]) return sink.error(toServiceError(errors[0] as Failure, ''));
          sink.next({ data } as GraphQLResponse);
        },
        error: (error) => sink.error(asError(error)),
        complete: () => sink.complete(),
      },
    ),
  );

function asError(error: unknown): Error {
  if (error instanceof Error) return error;
  if (Array.isArray(error)) {
    const [first] = error as Failure[];
    return toServiceError(first ?? { message: texts.subscriptionRefused }, '');
  }
  return new UnreachableError(error);
}
