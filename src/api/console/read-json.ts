/** Longer than any token or link. */
const maxBytes = 4_096;

/** The JSON object in a request's body; null for any other body, another type and more than 4 KiB. */
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
