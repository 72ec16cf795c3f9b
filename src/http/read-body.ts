import type { RequestView } from './request-view.ts';

/** Longer than any token or link. */
const defaultBytes = 4_096;

/** Reads the JSON object in a request's body. Null if the body is no JSON object, has another type or exceeds `maxBytes`, by default 4 KiB. */
export async function readJson(
  request: RequestView,
  maxBytes: number = defaultBytes,
): Promise<Readonly<Record<string, unknown>> | null> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.header('content-type') ?? '')) return null;
  const text = await readText(request, maxBytes);
  try {
    const body: unknown = JSON.parse(text ?? '');
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Reads the body of a request that a browser's form has the type of. Null if it has another type or exceeds `maxBytes`. */
export async function readForm(request: RequestView, maxBytes: number): Promise<URLSearchParams | null> {
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.header('content-type') ?? '')) return null;
  const text = await readText(request, maxBytes);
  return text === null ? null : new URLSearchParams(text);
}

async function readText(request: RequestView, maxBytes: number): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const tooLong = new Error('The body is too long.');
  const take = (part: Uint8Array) => {
    bytes += part.length;
    if (bytes > maxBytes) throw tooLong;
    parts.push(part);
  };
  return request.read(take).then(
    () => Buffer.concat(parts).toString('utf8'),
    (error: unknown) => {
      if (error === tooLong) return null;
      throw error;
    },
  );
}
