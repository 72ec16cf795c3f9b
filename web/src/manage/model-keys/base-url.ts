import { baseUrl as texts } from '../../texts/model-keys.ts';
/** Returns the host of an address, with its port; null if the text is not an address with http or https. */
export function hostOf(text: string): string | null {
  return /^https?:\/\/[^/]/i.test(text) && URL.canParse(text) ? new URL(text).host : null;
}

/** Returns the reason, for the user, why a text is no base URL; null: it may be one, or there is none. */
export function baseUrlProblem(text: string | null): string | null {
  if (text === null || hostOf(text) !== null) return null;
  const example = meantBy(text) ?? 'http://localhost:11434/v1';
  return texts.notAnAddress({ example });
}

/** Returns the address that was probably meant: with a mistyped scheme, or without one. */
function meantBy(text: string): string | null {
  const [, scheme, rest = ''] = /^(?:(https?)(?::\/?|\/\/?))?([^/].*)$/i.exec(text) ?? [];
  const isLocal = /^(?:localhost|127\.)/i.test(rest);
  const address = `${scheme?.toLowerCase() ?? (isLocal ? 'http' : 'https')}://${rest}`;
  return /^[\w.-]+(?::\d+)?(?:\/|$)/.test(rest) && hostOf(address) !== null ? address : null;
}
