/** Longer than any token or link. */
const maxBytes = 4_096;

/** Reads the JSON object in a request's body. Null if the body is no JSON object, has another type or exceeds 4 KiB. */
export async function readJson(request: Request): Promise<Readonly<Record<string, unknown>> | null> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get('content-type') ?? '')) return null;
  const text = await readText(request);
  try {
    const body: unknown = JSON.parse(text ?? '');
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

async function readText(request: Request): Promise<string | null> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > maxBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
