import { fileTypeFromBuffer } from 'file-type';

/** What nothing more is known of. */
const unknown = 'application/octet-stream';

/**
 * The type of a file by its first bytes, whatever its sender says: by what only files of one type begin with; else, for
 * text, `text/html` for what a browser might take for markup and `text/plain` for all other.
 */
export async function sniffContentType(head: Uint8Array): Promise<string> {
  // A parser of foreign bytes: whatever it stumbles over, it then does not know the file.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found) return found.mime;
  const text = asText(head);
  if (text === null) return unknown;
  return /^\s*</.test(text) ? 'text/html' : 'text/plain';
}

/** UTF-8 without the control characters that text does not have; null for anything else. */
function asText(head: Uint8Array): string | null {
  try {
    // As a stream: the last character may be cut in two.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}
