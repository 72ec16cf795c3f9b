import type { ConcreteRequest } from 'relay-runtime';
import type { whoQuery$data } from '../__generated__/whoQuery.graphql.ts';
import { consoleHeaders, isSignedInSince, pageSecret } from './page-secret.ts';
import { noteOther, noteSignedOut } from './signed-out.ts';
import { nowShown, type Shown, whoDocument, wordOf } from './who.ts';

/** Who is signed in now, beside whom the page shows. `unknown`: the service could not say. */
export type Found = 'same' | 'other' | 'nobody' | 'unknown';

let isUnderWay: Promise<Found> | null = null;

/**
 * Looks who is signed in in this browser, and does what follows: nobody is shown how to sign in, somebody else's pages begin
 * anew, and the same person's go on with their new sign-in. Several who ask at once are one question.
 */
export function look(): Promise<Found> {
  isUnderWay ??= find(nowShown()).finally(() => {
    isUnderWay = null;
  });
  return isUnderWay;
}

async function find(shown: Shown): Promise<Found> {
  const secret = pageSecret();
  const { organizationId } = shown;
  const asked = await askWho(organizationId);
  if (asked === null) return 'unknown';
  // The page began again meanwhile, and knows better.
  if (shown !== nowShown()) return 'other';
  // The user changed to another organization meanwhile.
  if (shown.organizationId !== organizationId) return find(shown);
  if ('refusal' in asked) {
    if (isSignedInSince(secret)) return find(shown);
    noteSignedOut(asked.refusal);
    return 'nobody';
  }
  if (shown.who !== null && shown.who !== asked.who) {
    noteOther();
    return 'other';
  }
  shown.signIn = asked.signIn;
  return 'same';
}

/**
 * Asks who is signed in now, and what they may do in the organization. Resolves with that, or with the reason why nobody is;
 * with null where the service does not say.
 */
export async function askWho(organizationId: string | null = null) {
  const { params } = whoDocument as ConcreteRequest;
  const variables = { organization: organizationId ?? '', hasOrganization: organizationId !== null };
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json', ...consoleHeaders() },
      body: JSON.stringify({ query: params.text, operationName: params.name, variables }),
    });
    const body = (await response.json()) as {
      readonly data?: whoQuery$data | null;
      readonly errors?: readonly { readonly message: string }[];
    };
    if (response.status === 401) return { refusal: body.errors?.[0]?.message ?? '' };
    if (!body.data?.viewer) return null;
    const name = body.data.viewer.principal?.displayName ?? 'a service key';
    return {
      name,
      who: wordOf(body.data.viewer, body.data.organization),
      signIn: response.headers.get('switchyard-sign-in'),
    };
  } catch {
    return null;
  }
}

/** How long a look holds when one comes back to the page, in milliseconds. */
const restMs = 10_000;

/** Looks whenever one comes back to the page: what was on it may be somebody's who has signed out since. Gives what ends that. */
export function lookOnReturn(): () => void {
  let last = Date.now();
  const back = (event: Event) => {
    const isRestored = (event as PageTransitionEvent).persisted === true;
    if (document.visibilityState !== 'visible' || (!isRestored && Date.now() - last < restMs)) return;
    last = Date.now();
    void look();
  };
  document.addEventListener('visibilitychange', back);
  window.addEventListener('pageshow', back);
  return () => {
    document.removeEventListener('visibilitychange', back);
    window.removeEventListener('pageshow', back);
  };
}
