/**
 * Returns a `fetch` whose responses are read completely and have at most `maxBytes`. Rejects with a TypeError, as for a lost connection,
 * if a response is larger.
 */
export function limitedFetch(maxBytes: number): (url: string, options: object) => Promise<Response> {
  return async (url, options) => {
    const response = await fetch(url, options as RequestInit);
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (bytes > maxBytes) throw new TypeError('The response is too large.');
      parts.push(part);
    }
    const body = bytes === 0 ? null : Buffer.concat(parts);
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}
