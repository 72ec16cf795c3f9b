import { z } from 'zod';
import { limitedFetch } from '../../common/limited-fetch.ts';

/** A service, and a token for it. */
interface Target {
  readonly address: string;
  readonly token: string;
}

/** A request to a service. */
export interface ServiceRequest {
  readonly method: string;
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Time after which an answer that a command reads itself must be complete, in seconds. */
export const answerSeconds = 30;
/** The maximum size of such an answer. */
const maxBytes = 1_048_576;

/** Sends a request, and reads the answer completely, up to 1 MiB. */
export const fetchAnswer = limitedFetch(maxBytes);

/** Returns the innermost message of an error of `fetch`, as a sentence. */
export function rootMessage(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const message =
    inner instanceof Error ? inner.message || String((inner as NodeJS.ErrnoException).code) : String(inner);
  return `${message.trim().replace(/\.+$/, '')}.`;
}

/**
 * Sends a request with a token. Follows no redirect, which could lead the token elsewhere. Throws an error that names the address.
 * `send`: reads the answer before it returns, or leaves it as a stream.
 */
export async function requestService(
  { address, token }: Target,
  path: string,
  { method, body, headers = {} }: ServiceRequest,
  send: (url: string, options: RequestInit) => Promise<Response> = fetch,
): Promise<Response> {
  // Checks the request first: the message of `fetch` about a bad header would repeat the token.
  const request = {
    method,
    headers: new Headers({ ...headers, authorization: `Bearer ${token}` }),
    redirect: 'manual',
    ...(body !== undefined && { body }),
  } as const;
  try {
    return await send(address + path, request);
  } catch (error) {
    throw new Error(`${address} doesn’t answer: ${rootMessage(error)}`, { cause: error });
  }
}

/** The viewer of a token. */
export interface ShownViewer {
  /** The name of the user or service user; null for a service key. */
  readonly name: string | null;
  readonly organizations: readonly { readonly organizationId: string; readonly name: string }[];
}

const viewerQuery =
  '{ viewer { principal { displayName } } organizations(first: 20) { nodes { organizationId name } } }';

const viewerSchema = z.object({
  data: z.object({
    viewer: z.object({ principal: z.object({ displayName: z.string() }).nullable() }),
    organizations: z.object({ nodes: z.array(z.object({ organizationId: z.string(), name: z.string() })) }),
  }),
});

/** Reads the viewer of a token, with up to 20 of its organizations. Null if the service does not accept the token. */
export async function readViewer(signedIn: Target, seconds: number = answerSeconds): Promise<ShownViewer | null> {
  const request = {
    method: 'POST',
    body: JSON.stringify({ query: viewerQuery }),
    headers: { 'content-type': 'application/json' },
  };
  const signal = AbortSignal.timeout(seconds * 1_000);
  const response = await requestService(signedIn, '/graphql', request, (url, options) =>
    fetchAnswer(url, { ...options, signal }),
  );
  if (response.status === 401) return null;
  if (!response.ok) throw new Error(`${signedIn.address} answered ${response.status} ${response.statusText}.`);
  const answer = viewerSchema.safeParse(await response.json().catch(() => null));
  if (!answer.success) throw new Error(`${signedIn.address} answered, but not as a Switchyard does.`);
  const { viewer, organizations } = answer.data.data;
  return { name: viewer.principal?.displayName ?? null, organizations: organizations.nodes };
}
