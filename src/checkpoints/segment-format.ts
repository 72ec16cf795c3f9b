import { createCipheriv, createDecipheriv } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib';
import type { CheckpointKeys } from './checkpoint-keys.ts';
import { CheckpointError } from './driver.ts';

/**
 * A segment is a file: a header of {@link headerBytes}, then records. The header is written last, and says how long the file is and
 * where its manifest is. The header and each record are encrypted by AES-256-GCM under a key that belongs to this segment alone. The
 * nonce is the position in the file, and the additional data is the segment's id, the kind and the position. So a record is valid only
 * there: a part that is changed, moved, cut or taken from another segment is refused.
 */
const magic = Buffer.from('SYSEG\0\0\x01', 'latin1');
const tagBytes = 16;
const headerContentBytes = 40;

/** The bytes of a segment before its first record. */
export const headerBytes = magic.length + headerContentBytes + tagBytes;

/** The largest content of a block of chunks. */
export const maxBlockBytes = 2 ** 22;

/** The largest encoded manifest. */
export const maxManifestBytes = 2 ** 28;

/** The kinds of records. */
export type RecordKind = 'block' | 'manifest';

const kinds = { header: 0, block: 1, manifest: 2 } as const;
const codecs = { none: 0, brotli: 1 } as const;

/**
 * The quality of Brotli. Compared with the fastest deflate, it takes as much CPU for source code and makes it a fifth smaller, and it is
 * read half as fast again. Content that cannot be compressed costs next to nothing (docs/decisions/0056-find-changes-of-workspaces-by-a-scan.md).
 */
const quality = 3;

/** The header of a segment. */
export interface SegmentHeader {
  /** The length of the file. */
  readonly bytes: number;
  /** The position of the record with the manifest; null: none. */
  readonly manifest: { readonly offset: number; readonly length: number } | null;
}

/** A position of a record in a segment. */
export interface RecordPosition {
  readonly segmentId: string;
  readonly kind: RecordKind;
  readonly offset: number;
}

/** Returns the error of a segment with wrong bytes. */
export function damaged(segmentId: string, problem: string, cause?: unknown): CheckpointError {
  return new CheckpointError('DAMAGED', `The segment ${segmentId} is damaged: ${problem}.`, { cause });
}

/** Encrypts a header. */
export function sealHeader(keys: CheckpointKeys, segmentId: string, header: SegmentHeader): Buffer {
  const content = Buffer.alloc(headerContentBytes);
  content.writeUIntBE(header.bytes, 0, 6);
  content.writeUIntBE(header.manifest?.offset ?? 0, 6, 6);
  content.writeUIntBE(header.manifest?.length ?? 0, 12, 6);
  return Buffer.concat([magic, encrypt(keys, { segmentId, kind: 'header', offset: 0 }, [content])]);
}

/** Decrypts the header at the beginning of a segment. Throws CheckpointError. */
export function openHeader(keys: CheckpointKeys, segmentId: string, start: Buffer): SegmentHeader {
  if (start.length < headerBytes || !start.subarray(0, magic.length).equals(magic)) {
    throw damaged(segmentId, 'it has no header');
  }
  const sealed = start.subarray(magic.length, headerBytes);
  const content = decrypt(keys, { segmentId, kind: 'header', offset: 0 }, sealed);
  const [bytes, offset, length] = [content.readUIntBE(0, 6), content.readUIntBE(6, 6), content.readUIntBE(12, 6)];
  return { bytes, manifest: length === 0 ? null : { offset, length } };
}

/** Compresses content if that makes it smaller, and encrypts it as a record. */
export function sealRecord(keys: CheckpointKeys, position: RecordPosition, content: Uint8Array): Buffer {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants;
  const params = { [BROTLI_PARAM_QUALITY]: quality, [BROTLI_PARAM_SIZE_HINT]: content.length };
  const compressed = brotliCompressSync(content, { params });
  const isSmaller = compressed.length < content.length;
  const start = Buffer.alloc(5);
  start.writeUInt8(isSmaller ? codecs.brotli : codecs.none, 0);
  start.writeUInt32BE(content.length, 1);
  return encrypt(keys, position, [start, isSmaller ? compressed : content]);
}

/** Decrypts and decompresses a record, which is `sealed` completely. Throws CheckpointError. */
export function openRecord(keys: CheckpointKeys, position: RecordPosition, sealed: Uint8Array): Buffer {
  const { codec, bytes, content } = decryptRecord(keys, position, sealed);
  if (codec === codecs.none) return content;
  try {
    return exactly(position, bytes, brotliDecompressSync(content, { maxOutputLength: bytes + 1 }));
  } catch (error) {
    throw damaged(position.segmentId, 'a record cannot be decompressed', error);
  }
}

const decompressInBackground = promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress);

/** Works as {@link openRecord} does, and decompresses outside of the event loop. */
export async function openRecordInBackground(
  keys: CheckpointKeys,
  position: RecordPosition,
  sealed: Uint8Array,
): Promise<Buffer> {
  const { codec, bytes, content } = decryptRecord(keys, position, sealed);
  if (codec === codecs.none) return content;
  try {
    return exactly(position, bytes, await decompressInBackground(content, { maxOutputLength: bytes + 1 }));
  } catch (error) {
    throw damaged(position.segmentId, 'a record cannot be decompressed', error);
  }
}

function decryptRecord(keys: CheckpointKeys, position: RecordPosition, sealed: Uint8Array) {
  const record = decrypt(keys, position, sealed);
  if (record.length < 5) throw damaged(position.segmentId, 'a record is too short');
  const [codec, bytes, content] = [record.readUInt8(0), record.readUInt32BE(1), record.subarray(5)];
  const limit = position.kind === 'block' ? maxBlockBytes : maxManifestBytes;
  if (bytes > limit) throw damaged(position.segmentId, 'a record is too large');
  if (codec === codecs.none) exactly(position, bytes, content);
  else if (codec !== codecs.brotli) throw damaged(position.segmentId, 'a record has an unknown compression');
  return { codec, bytes, content };
}

function exactly({ segmentId }: RecordPosition, bytes: number, content: Buffer): Buffer {
  if (content.length !== bytes) throw damaged(segmentId, 'a record has another length than it says');
  return content;
}

interface AnyPosition extends Omit<RecordPosition, 'kind'> {
  readonly kind: keyof typeof kinds;
}

function encrypt(keys: CheckpointKeys, position: AnyPosition, parts: readonly Uint8Array[]): Buffer {
  const cipher = createCipheriv('aes-256-gcm', keys.segmentKeyOf(position.segmentId), nonceOf(position));
  cipher.setAAD(additionalData(position));
  const encrypted = parts.map((part) => cipher.update(part));
  return Buffer.concat([...encrypted, cipher.final(), cipher.getAuthTag()]);
}

function decrypt(keys: CheckpointKeys, position: AnyPosition, sealed: Uint8Array): Buffer {
  const end = sealed.length - tagBytes;
  if (end < 0) throw damaged(position.segmentId, 'a record is too short');
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv('aes-256-gcm', keys.segmentKeyOf(position.segmentId), nonceOf(position), options);
  decipher.setAAD(additionalData(position)).setAuthTag(sealed.subarray(end));
  try {
    const content = decipher.update(sealed.subarray(0, end));
    decipher.final();
    return content;
  } catch (error) {
    throw damaged(position.segmentId, 'a part was changed, or belongs to another segment or organization', error);
  }
}

// Each position of a segment is written once.
function nonceOf({ offset }: AnyPosition): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(offset, 6, 6);
  return nonce;
}

function additionalData({ segmentId, kind, offset }: AnyPosition): Buffer {
  const data = Buffer.alloc(23);
  data.write(segmentId, 'hex');
  data.writeUInt8(kinds[kind], 16);
  data.writeUIntBE(offset, 17, 6);
  return data;
}
