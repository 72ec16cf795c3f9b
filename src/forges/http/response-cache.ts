/** A response that the forge confirms by its validator (ETag). Confirmations do not count against GitHub's rate limit. */
export interface CachedResponse {
  readonly etag: string;
  readonly body: Uint8Array;
  readonly link: string | undefined;
}

/** The responses of one connection. */
export interface ResponseCache {
  get(url: string): CachedResponse | undefined;
  set(url: string, response: CachedResponse): void;
}

/** Creates a cache that forgets the responses that were unused for the longest time beyond `maxBytes`. */
export function createResponseCache(maxBytes: number): ResponseCache {
  const entries = new Map<string, CachedResponse>();
  let bytes = 0;
  const remove = (url: string) => {
    bytes -= entries.get(url)?.body.length ?? 0;
    entries.delete(url);
  };
  return {
    get(url) {
      const found = entries.get(url);
      if (!found) return undefined;
      entries.delete(url);
      entries.set(url, found);
      return found;
    },
    set(url, response) {
      remove(url);
      if (response.body.length > maxBytes / 4) return;
      entries.set(url, response);
      bytes += response.body.length;
      for (const oldest of entries.keys()) {
        if (bytes <= maxBytes && entries.size <= 500) break;
        remove(oldest);
      }
    },
  };
}
