import type { ConcreteRequest } from 'relay-runtime';
import type { viewerQuery$data } from '../__generated__/viewerQuery.graphql.ts';
import { sessionSync as texts } from '../texts/relay.ts';
import { consoleHeaders, isSignedInSince, pageSecret } from './page-secret.ts';
import { notifyOtherViewer, notifySignedOut } from './signed-out.ts';
import { currentViewerContext, type ViewerContext, viewerDocument, viewerKeyOf } from './viewer.ts';

/** The current sign-in compared with the page's. `unknown`: the service could not tell. */
export type SyncResult = 'same' | 'other' | 'nobody' | 'unknown';

let pendingSync: Promise<SyncResult> | null = null;

/**
 * Checks the browser's current sign-in and reacts: nobody gets the sign-in form, another user's pages reload, and the
 * same user's pages continue with the new sign-in. Concurrent checks share one request.
 */
export function syncSession(): Promise<SyncResult> {
  pendingSync ??= find(currentViewerContext()).finally(() => {
    pendingSync = null;
  });
  return pendingSync;
}

async function find(viewerContext: ViewerContext): Promise<SyncResult> {
  const secret = pageSecret();
  const { organizationId } = viewerContext;
  const viewer = await fetchViewer(organizationId);
  if (viewer === null) return 'unknown';
  // The page has reloaded meanwhile and is up to date.
  if (viewerContext !== currentViewerContext()) return 'other';
  // The user switched to another organization meanwhile.
  if (viewerContext.organizationId !== organizationId) return find(viewerContext);
  if ('refusal' in viewer) {
    if (isSignedInSince(secret)) return find(viewerContext);
    notifySignedOut();
    return 'nobody';
  }
  if (viewerContext.viewerKey !== null && viewerContext.viewerKey !== viewer.viewerKey) {
    notifyOtherViewer();
    return 'other';
  }
  viewerContext.signIn = viewer.signIn;
  return 'same';
}

/**
 * Reads the signed-in user and their permissions in the organization. Resolves with the reason if nobody is signed in,
 * and with null if the service does not tell.
 */
export async function fetchViewer(organizationId: string | null = null) {
  const { params } = viewerDocument as ConcreteRequest;
  const variables = { organization: organizationId ?? '', hasOrganization: organizationId !== null };
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json', ...consoleHeaders() },
      body: JSON.stringify({ query: params.text, operationName: params.name, variables }),
    });
    const body = (await response.json()) as {
      readonly data?: viewerQuery$data | null;
      readonly errors?: readonly { readonly message: string }[];
    };
    if (response.status === 401) return { refusal: body.errors?.[0]?.message ?? '' };
    if (!body.data?.viewer) return null;
    const name = body.data.viewer.principal?.displayName ?? texts.aServiceKey;
    return {
      name,
      viewerKey: viewerKeyOf(body.data.viewer, body.data.organization),
      signIn: response.headers.get('switchyard-sign-in'),
    };
  } catch {
    return null;
  }
}

/** The minimum time between two checks when the user returns to the page, in milliseconds. */
const restMs = 10_000;

/**
 * Checks the sign-in whenever the user returns to the page: the user it shows may have signed out. Returns a function
 * that stops this.
 */
export function syncSessionOnReturn(): () => void {
  let last = Date.now();
  const back = (event: Event) => {
    const isRestored = (event as PageTransitionEvent).persisted === true;
    if (document.visibilityState !== 'visible' || (!isRestored && Date.now() - last < restMs)) return;
    last = Date.now();
    void syncSession();
  };
  document.addEventListener('visibilitychange', back);
  window.addEventListener('pageshow', back);
  return () => {
    document.removeEventListener('visibilitychange', back);
    window.removeEventListener('pageshow', back);
  };
}
