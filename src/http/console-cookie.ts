/** The cookie name behind https, which browsers accept only with `Secure`, `Path=/` and no `Domain`. */
const secureName = '__Host-switchyard';
const insecureName = 'switchyard';

/** The end of the names for the cookie of a browser that is about to sign in at an identity provider. */
const signOnSuffix = '-sign-on';

const nameFor = (baseUrl: string) => (baseUrl.startsWith('https:') ? secureName : insecureName);

/** The header in which a page of the console sends its page secret, the half of a sign-in that is not in the cookie. */
export const pageSecretHeader = 'switchyard-page-secret';

const code = /^[a-z2-7]{52}$/;

/** The page secret of a request or of `connection_init`; null if missing or invalid. */
export function readPageSecret(value: unknown): string | null {
  return typeof value === 'string' && code.test(value) ? value : null;
}

/**
 * The codes in all cookies of a request that have the console's name, each once. Usually there is one. A server on another
 * port of the host can add others, under longer paths, which browsers send first; the page secret tells which one counts.
 * Behind https only the name with the prefix `__Host-` counts.
 */
export function readConsoleCookies(header: string | null | undefined, baseUrl: string): readonly string[] {
  return readCodes(header, nameFor(baseUrl));
}

/** The codes in the cookies of a request that {@link signOnCookie} has set, in the same way. */
export function readSignOnCookies(header: string | null | undefined, baseUrl: string): readonly string[] {
  return readCodes(header, nameFor(baseUrl) + signOnSuffix);
}

function readCodes(header: string | null | undefined, wanted: string): readonly string[] {
  const codes = new Set<string>();
  for (const part of header?.split(';') ?? []) {
    const [name, value = ''] = part.trim().split('=');
    if (name === wanted && code.test(value)) codes.add(value);
  }
  return [...codes];
}

/** The `Set-Cookie` header of a sign-in. `baseUrl` tells if browsers use https. */
export function consoleCookie(code: string, maxAgeSeconds: number, baseUrl: string): string {
  return writeCookie(nameFor(baseUrl), code, maxAgeSeconds, baseUrl);
}

/**
 * The `Set-Cookie` header of a browser that is about to sign in at an identity provider. The page to which the provider returns sends
 * it with a request of its own, so that no request from another site needs it. An empty code with no age deletes it.
 */
export function signOnCookie(code: string, maxAgeSeconds: number, baseUrl: string): string {
  return writeCookie(nameFor(baseUrl) + signOnSuffix, code, maxAgeSeconds, baseUrl);
}

function writeCookie(name: string, code: string, maxAgeSeconds: number, baseUrl: string): string {
  const secure = nameFor(baseUrl) === secureName ? '; Secure' : '';
  return `${name}=${code}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** The `Set-Cookie` headers of a sign-out. */
export const noConsoleCookies: readonly string[] = [
  `${insecureName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
  `${secureName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure`,
];
