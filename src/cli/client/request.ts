import { rootMessage } from './device-sign-in.ts';

/** A request to a service. */
export interface ServiceRequest {
  readonly method: string;
  readonly body?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request with a token. Follows no redirect, which could lead the token elsewhere. Throws an error that names the address. */
export async function requestService(
  { address, token }: { readonly address: string; readonly token: string },
  path: string,
  { method, body, headers = {} }: ServiceRequest,
): Promise<Response> {
  const sent = { ...headers, authorization: `Bearer ${token}` };
  try {
    return await fetch(address + path, {
      method,
      headers: sent,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
  } catch (error) {
    throw new Error(`${address} doesn’t answer: ${rootMessage(error)}.`, { cause: error });
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

/** Reads the viewer of a token, with up to 20 of its organizations. Null if the service does not accept the token. */
export async function readViewer(signedIn: {
  readonly address: string;
  readonly token: string;
}): Promise<ShownViewer | null> {
  const response = await requestService(signedIn, '/graphql', {
    method: 'POST',
    body: JSON.stringify({ query: viewerQuery }),
    headers: { 'content-type': 'application/json' },
  });
  if (response.status === 401) return null;
  if (!response.ok) throw new Error(`${signedIn.address} answered ${response.status} ${response.statusText}.`);
  const { data } = (await response.json()) as {
    readonly data: {
      readonly viewer: { readonly principal: { readonly displayName: string } | null };
      readonly organizations: { readonly nodes: ShownViewer['organizations'] };
    } | null;
  };
  if (data == null) return null;
  return { name: data.viewer.principal?.displayName ?? null, organizations: data.organizations.nodes };
}

/** Removes control characters, such as those that move the cursor of a terminal, from a text of a service. */
export const plain = (text: string): string => text.replace(/\p{C}/gu, '');
