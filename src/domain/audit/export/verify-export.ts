import { createPublicKey, type KeyObject } from 'node:crypto';
import { createLineChain, formatVersion, headerType, isSignatureOf } from './signed-lines.ts';
import { keyIdOf } from './signing-key.ts';

/** An export that was not changed since the service signed it. */
export interface VerifiedExport {
  /** The first line: the organization, the range and the time of the export. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly entryCount: number;
}

/** A file that is no complete and unchanged export. The message is a sentence for the person who checks it. */
export class InvalidExportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InvalidExportError';
  }
}

/** Maximum length of a line in bytes. The service writes much shorter ones. */
const maxLineBytes = 16 * 1_048_576;

/**
 * Verifies an export of the audit log against a public key, in the memory of its longest line. Throws {@link InvalidExportError} for a
 * file that is changed, incomplete or signed with another key.
 */
export async function verifyExport(
  content: AsyncIterable<Uint8Array>,
  publicKey: string | Buffer,
): Promise<VerifiedExport> {
  const key = readPublicKey(publicKey);
  const chain = createLineChain();
  let header: Readonly<Record<string, unknown>> | null = null;
  let previous: Buffer | null = null;
  for await (const line of linesOf(content)) {
    // The last line is not part of the chain, and which one is the last is known at the end.
    if (previous !== null) chain.add(previous);
    header ??= readHeader(line, key);
    previous = line;
  }
  if (header === null || previous === null) throw new InvalidExportError('The file is empty.');
  const last = previous.toString('utf8');
  if (!last.startsWith('{"type":"signature",')) {
    throw new InvalidExportError('The file is incomplete: its last line is not a signature.');
  }
  if (!isSignatureOf(chain, last, key)) {
    throw new InvalidExportError(
      'The signature does not match. Lines were changed, removed, added or reordered since the service wrote the file.',
    );
  }
  return { header, entryCount: chain.count - 1 };
}

function readPublicKey(text: string | Buffer): KeyObject {
  try {
    // A private key would be accepted as well, and must not lie around for this.
    const key = String(text).includes('PRIVATE') ? null : createPublicKey(text);
    if (key?.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The same sentence.
  }
  throw new InvalidExportError('The key is not an Ed25519 public key in PEM.');
}

function readHeader(line: Buffer, key: KeyObject): Readonly<Record<string, unknown>> {
  const header = parseObject(line);
  if (header?.type !== headerType) {
    throw new InvalidExportError('The first line is not that of an export of the audit log.');
  }
  if (header.version !== formatVersion) {
    throw new InvalidExportError('The file has a version of the format that this program does not know.');
  }
  const keyId = keyIdOf(key);
  if (header.key_id !== keyId) {
    throw new InvalidExportError(`The file names another key than ${keyId}.`);
  }
  return header;
}

function parseObject(line: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Splits at line feeds, and returns the lines without them. Every line must end with one. */
async function* linesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of content) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, at)]);
      parts = [];
      size = 0;
      from = at + 1;
    }
    parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > maxLineBytes) throw new InvalidExportError('The file has a line that is too long for an export.');
  }
  if (size > 0) throw new InvalidExportError('The file is incomplete: it ends within a line.');
}
