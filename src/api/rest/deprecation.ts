/** The deprecation date of a part of an API, and its end date where one is known. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset?: Date;
}

/** The successor of a route that has none of its own: the OpenAPI document of the current version. */
const currentVersion = '/openapi/v3.json';

/**
 * The headers of RFC 9745 (`Deprecation`), RFC 8594 (`Sunset`) and RFC 5829 (`Link` to the successor). `successor` is
 * the address to use instead; null if there is none or it is not known.
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
 * The address of a route with its parameters filled in; null if a value is missing. It is relative, so that it works
 * behind every proxy.
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
