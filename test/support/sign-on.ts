import type { call, TestApp } from './app.ts';
import { type Halves, send } from './console.ts';
import { type IdentityProvider, walkThrough } from './identity-provider.ts';

/** A sign-in that has begun, with what the browser keeps of it. */
export interface Begun {
  readonly providerId: string;
  readonly address: string;
  readonly transaction: string;
  /** The cookie of the browser. */
  readonly cookie: string;
}

/** Begins a sign-in like the page of the console. `halves`: of the session that it confirms. */
export async function begin(
  test: Pick<TestApp, 'url'>,
  providerId: string,
  options: { readonly returnTo?: unknown; readonly halves?: Required<Halves>; readonly cookie?: string } = {},
): Promise<Begun> {
  const { returnTo, halves, cookie } = options;
  const body = { provider: providerId, returnTo, isConfirmation: halves !== undefined };
  const sent = { ...halves, ...(cookie && { cookie }) };
  const answer = await send(test, 'POST', body, sent, '/console/sign-on');
  if (answer.status !== 200)
    throw new Error(`Beginning a sign-in answered ${answer.status} ${JSON.stringify(answer.body)}.`);
  const [set = ''] = answer.headers.getSetCookie();
  return { providerId, ...answer.body, cookie: set.split(';')[0] as string };
}

/** Sends the answer of a provider like the page of the console. */
export function complete(
  test: Pick<TestApp, 'url'>,
  begun: Begun,
  parameters: URLSearchParams | string,
  headers: Readonly<Record<string, string>> = {},
): ReturnType<typeof call> {
  const { providerId: provider, transaction, cookie } = begun;
  const body = { provider, transaction, parameters: String(parameters) };
  const cookies = headers.cookie === undefined ? cookie : `${cookie}; ${headers.cookie}`;
  return send(test, 'POST', body, { ...headers, cookie: cookies }, '/console/sign-on/completion');
}

/** Walks through the pages of the provider of a sign-in. Returns the parameters with which it leads back. */
export async function answerOf(
  test: Pick<TestApp, 'url'>,
  begun: Begun,
  jar?: Map<string, string>,
): Promise<URLSearchParams> {
  const end = await walkThrough(begun.address, `${test.url}/sign-in/callback/`, jar);
  return end.searchParams;
}

/** Signs in with a provider from the first to the last step. Returns the answer of the service. */
export async function signOn(
  test: Pick<TestApp, 'url'>,
  providerId: string,
  options: { readonly returnTo?: unknown; readonly jar?: Map<string, string> } = {},
): Promise<Awaited<ReturnType<typeof call>>> {
  const begun = await begin(test, providerId, options);
  return complete(test, begun, await answerOf(test, begun, options.jar));
}

/** Returns both halves of a session from the answer of the service. */
export function halvesOfAnswer(answer: Awaited<ReturnType<typeof call>>): Required<Halves> {
  const [set] = answer.headers.getSetCookie();
  if (answer.status !== 200 || !set)
    throw new Error(`Signing in answered ${answer.status} ${JSON.stringify(answer.body)}.`);
  return { cookie: set.split(';')[0] as string, 'switchyard-page-secret': answer.body.pageSecret };
}

/** Signs a user in with a provider. */
export async function signInAs(
  test: Pick<TestApp, 'url'>,
  idp: IdentityProvider,
  providerId: string,
  account: IdentityProvider['account'],
): Promise<Required<Halves>> {
  idp.account = account;
  return halvesOfAnswer(await signOn(test, providerId));
}
