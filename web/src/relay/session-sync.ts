import type { ConcreteRequest } from 'relay-runtime';
import type { viewerQuery$data } from '../__generated__/viewerQuery.graphql.ts';
import { consoleHeaders, isSignedInSince, pageSecret } from './page-secret.ts';
import { notifyOtherViewer, notifySignedOut } from './signed-out.ts';
import { currentViewerContext, type ViewerContext, viewerDocument, viewerKeyOf } from './viewer.ts';

/** Who is signed in now, beside whom the page shows. `unknown`: the service could not say. */
export type SyncResult = 'same' | 'other' | 'nobody' | 'unknown';

let pendingSync: Promise<SyncResult> | null = null;

/**
 * Looks who is signed in in this browser, and does what follows: nobody is shown how to sign in, somebody else's pages begin
 * anew, and the same person's go on with their new sign-in. Several who ask at once are one question.
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
  // The page began again meanwhile, and knows better.
  if (viewerContext !== currentViewerContext()) return 'other';
  // The user changed to another organization meanwhile.
  if (viewerContext.organizationId !== organizationId) return find(viewerContext);
  if ('refusal' in viewer) {
    if (isSignedInSince(secret)) return find(viewerContext);
    notifySignedOut(viewer.refusal);
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
 * Asks who is signed in now, and what they may do in the organization. Resolves with that, or with the reason why nobody is;
 * with null where the service does not say.
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
    const name = body.data.viewer.principal?.displayName ?? 'a service key';
    return {
      name,
      viewerKey: viewerKeyOf(body.data.viewer, body.data.organization),
      signIn: response.headers.get('switchyard-sign-in'),
    };
  } catch {
    return null;
  }
}

/** How long a look holds when one comes back to the page, in milliseconds. */
const restMs = 10_000;

/** Looks whenever one comes back to the page: what was on it may be somebody's who has signed out since. Gives what ends that. */
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
