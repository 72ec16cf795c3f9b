/** Returns an http or https link as it is, and undefined for any other: an agent may report any URL. */
export function safeAddress(url: string): string | undefined {
  return URL.canParse(url, location.href) && /^https?:$/.test(new URL(url, location.href).protocol) ? url : undefined;
}
