/** Behind https, where a browser takes this name only with `Secure`, `Path=/` and no `Domain`. */
const secureName = '__Host-switchyard';
const plainName = 'switchyard';

const nameFor = (baseUrl: string) => (baseUrl.startsWith('https:') ? secureName : plainName);

/**
 * The code in the cookie of a browser that is signed in to the console; null where there is none. Behind https the plain name
 * is nobody's: a page on a neighbouring host could set it.
 */
export function readConsoleCookie(header: string | null | undefined, baseUrl: string): string | null {
  const wanted = nameFor(baseUrl);
  for (const part of header?.split(';') ?? []) {
    const [name, value = ''] = part.trim().split('=');
    if (name === wanted && /^[a-z2-7]{52}$/.test(value)) return value;
  }
  return null;
}

/** The header `Set-Cookie` of a sign-in. `baseUrl` says whether browsers come by https. */
export function consoleCookie(code: string, maxAgeSeconds: number, baseUrl: string): string {
  const name = nameFor(baseUrl);
  const secure = name === secureName ? '; Secure' : '';
  return `${name}=${code}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** The headers `Set-Cookie` of a sign-out. */
export const noConsoleCookies: readonly string[] = [
  `${plainName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
  `${secureName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure`,
];
