import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The uses of SECRET_KEY, each with its own key derived from it (HKDF-SHA-256). */
export interface Keyring {
  /** Identifies the SECRET_KEY without revealing it; stored in the database. */
  readonly fingerprint: string;
  readonly previousFingerprint: string | null;
  /** HMAC-SHA-256 of a token under the pepper, in hex. */
  hashToken(token: string): string;
  /** The hashes under which a token may be stored: under the current pepper, then under the previous one. */
  tokenHashes(token: string): string[];
  /** Returns an AES-256-GCM envelope `v1.<key id>.<base64url of nonce, text and tag>`; `aad` binds it to its owner. */
  seal(text: string, aad: string): string;
  /**
   * Returns the text of an envelope. Throws, without the text, if the key, the associated data or the envelope is
   * wrong.
   */
  open(sealed: string, aad: string): string;
  /** Returns the key for the messages of one sender to other processes. */
  messageKey(sender: string): Buffer;
  /** A signature for links, base64url. */
  sign(data: string): string;
  /** Checks a signature of {@link Keyring.sign} in constant time. */
  verify(data: string, signature: string): boolean;
}

interface Subkeys {
  readonly id: string;
  readonly pepper: Buffer;
  readonly envelope: Buffer;
  readonly links: Buffer;
  readonly messages: Buffer;
}

/** Creates the keys of a SECRET_KEY, and of the previous one during a rotation. */
export function createKeyring(keys: { secretKey: string; previousSecretKey: string | null }): Keyring {
  const present = deriveSubkeys(keys.secretKey);
  const previous = keys.previousSecretKey === null ? null : deriveSubkeys(keys.previousSecretKey);
  const all = previous ? [present, previous] : [present];
  return {
    fingerprint: present.id,
    previousFingerprint: previous?.id ?? null,
    hashToken: (token) => hmac(present.pepper, token).toString('hex'),
    tokenHashes: (token) => all.map(({ pepper }) => hmac(pepper, token).toString('hex')),
    seal: (text, aad) => seal(present, text, aad),
    open: (sealed, aad) => openEnvelope(all, sealed, aad),
    messageKey: (sender) => hmac(present.messages, sender),
    sign: (data) => hmac(present.links, data).toString('base64url'),
    verify: (data, signature) => {
      const input = Buffer.from(signature, 'base64url');
      return all.some(({ links }) => input.length === 32 && timingSafeEqual(input, hmac(links, data)));
    },
  };
}

/**
 * Returns SECRET_KEY from the environment, or from `<dataDir>/secret.key`, which is created (mode 0600) if it is
 * missing.
 */
export async function loadSecretKey(options: {
  dataDir: string;
  fromEnv: string | null;
}): Promise<{ secretKey: string; isGenerated: boolean }> {
  if (options.fromEnv !== null) return { secretKey: options.fromEnv, isGenerated: false };
  const path = join(options.dataDir, 'secret.key');
  const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found !== null) {
    if (found.trim().length < 32)
      throw new Error(`The secret key in ${path} is not whole: it must have at least 32 characters.`);
    return { secretKey: found.trim(), isGenerated: true };
  }
  const secretKey = randomBytes(32).toString('base64url');
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  // Written to another file and renamed, so that a crash never leaves half a key, which would lose all secrets.
  await rm(`${path}.new`, { force: true });
  await writeThrough(`${path}.new`, `${secretKey}\n`);
  await rename(`${path}.new`, path);
  await syncFolder(options.dataDir);
  return { secretKey, isGenerated: true };
}

async function writeThrough(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The new name must also survive a power failure: everything that is sealed from now on depends on it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function deriveSubkeys(secretKey: string): Subkeys {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, 'switchyard', purpose, 32));
  return {
    id: derive('fingerprint').toString('hex').slice(0, 16),
    pepper: derive('pepper'),
    envelope: derive('envelope'),
    links: derive('links'),
    messages: derive('messages'),
  };
}

function hmac(key: Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

const nonceBytes = 12;
const tagBytes = 16;

function seal(keys: Subkeys, text: string, aad: string): string {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', keys.envelope, nonce).setAAD(Buffer.from(aad));
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `v1.${keys.id}.${sealed.toString('base64url')}`;
}

function openEnvelope(all: readonly Subkeys[], envelope: string, aad: string): string {
  const [version, id, body] = envelope.split('.');
  const keys = all.find((each) => each.id === id);
  if (version !== 'v1' || !keys || body === undefined) {
    throw new Error(
      'A stored secret was encrypted with another key. Set SECRET_KEY, or SECRET_KEY_PREVIOUS, to that key.',
    );
  }
  const sealed = Buffer.from(body, 'base64url');
  const nonce = sealed.subarray(0, nonceBytes);
  const tag = sealed.subarray(Math.max(nonceBytes, sealed.length - tagBytes));
  try {
    const decipher = createDecipheriv('aes-256-gcm', keys.envelope, nonce, { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(aad)).setAuthTag(tag);
    const text = decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch (error) {
    throw new Error('A stored secret cannot be decrypted: it was changed, or it belongs to another resource.', {
      cause: error,
    });
  }
}
