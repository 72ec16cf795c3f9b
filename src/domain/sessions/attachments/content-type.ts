import { fileTypeFromBuffer } from 'file-type';

/** The type of a file that is not recognized. */
const unknown = 'application/octet-stream';

/**
 * Detects the type of a file from its first bytes, and ignores the type that the sender declared. A file without a
 * known signature is `text/html` if a browser might take its text for markup, `text/plain` if it is other text.
 */
export async function sniffContentType(head: Uint8Array): Promise<string> {
  // The parser gets untrusted bytes: after an error the type counts as unknown.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found) return found.mime;
  const text = asText(head);
  if (text === null) return unknown;
  return /^\s*</.test(text) ? 'text/html' : 'text/plain';
}

/** Decodes UTF-8 without control characters that text does not have; null for anything else. */
function asText(head: Uint8Array): string | null {
  try {
    // As a stream, because the last character may be incomplete.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}
