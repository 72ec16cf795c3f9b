/** Since when something of an API is deprecated, and when it ends, where that is known. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset?: Date;
}

/** What takes the place of what has no successor of its own: the version that is current, as it describes itself. */
const currentVersion = '/openapi/v3.json';

/**
 * The headers of RFC 9745 (`Deprecation`), RFC 8594 (`Sunset`) and RFC 5829 (`Link` to the successor). `successor` is the
 * address of what to ask instead; null where there is none in particular, or where it is not known.
 */
export function deprecationHeaders(deprecation: Deprecation, successor: string | null): Record<string, string> {
  const { since, sunset } = deprecation;
  return {
    deprecation: `@${Math.floor(since.getTime() / 1_000)}`,
    ...(sunset ? { sunset: sunset.toUTCString() } : {}),
    link: `<${successor ?? currentVersion}>; rel="successor-version"`,
  };
}

/** A route as {@link Deprecation} names it: `GET /v3/…`, with `{name}` for parameters. */
export type RouteName = `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;

/**
 * The address of a route, with values in the place of its parameters; null when one is missing. Relative, so that it is
 * right behind every proxy.
 */
export function addressOf(route: RouteName, valueFor: (name: string) => string | null): string | null {
  let isComplete = true;
  const path = route.slice(route.indexOf('/')).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = valueFor(name);
    isComplete &&= value !== null && value !== '';
    return encodeURIComponent(value ?? '');
  });
  return isComplete ? path : null;
}
