import { createCipheriv, createDecipheriv, randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';
import { createKeyring } from '../store/cipher.ts';
import { BackupError } from './backup-error.ts';

/** Cost of a guess of the passphrase: 128 MiB of memory and some tenths of a second. */
const cost = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1_048_576 } as const satisfies ScryptOptions;
const tagBytes = 16;
/** Minimum length of a passphrase. */
const minPassphrase = 12;
/** Maximum size of the file. */
export const maxKeyFileBytes = 4_096;

const base64 = z.string().regex(/^[A-Za-z0-9+/]{16,1024}={0,2}$/);
const keyFile = z.union([
  z.strictObject({ secretKey: z.string().min(32).max(1_024) }),
  z.strictObject({ kdf: z.literal('scrypt'), n: z.literal(cost.N), salt: base64, nonce: base64, sealed: base64 }),
]);

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Returns the text of the file with SECRET_KEY; with a passphrase, it is sealed by AES-256-GCM with a key of scrypt. */
export async function writeKeyFile(secretKey: string, passphrase: string | null): Promise<string> {
  if (passphrase === null) return JSON.stringify({ secretKey });
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', await derive(passphrase, salt, 32, cost), nonce);
  cipher.setAAD(associatedData(fingerprintOf(secretKey)));
  const sealed = Buffer.concat([cipher.update(secretKey, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  const text = (bytes: Buffer) => bytes.toString('base64');
  return JSON.stringify({ kdf: 'scrypt', n: cost.N, salt: text(salt), nonce: text(nonce), sealed: text(sealed) });
}

/** Returns SECRET_KEY from the text of {@link writeKeyFile}. Throws BackupError if the passphrase is missing or wrong. */
export async function readKeyFile(text: string, fingerprint: string, passphrase: string | null): Promise<string> {
  const file = parse(text);
  if ('secretKey' in file) return file.secretKey;
  if (passphrase === null) {
    throw new BackupError('The key in the backup is sealed: give its passphrase with --key-passphrase-file.');
  }
  const sealed = Buffer.from(file.sealed, 'base64');
  const end = Math.max(0, sealed.length - tagBytes);
  try {
    const key = await derive(passphrase, Buffer.from(file.salt, 'base64'), 32, cost);
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(file.nonce, 'base64'), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(associatedData(fingerprint)).setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()]).toString('utf8');
  } catch (error) {
    throw new BackupError('The passphrase is not the one with which the key in the backup was sealed.', {
      cause: error,
    });
  }
}

/** Checks a passphrase, and removes the end of its line. Throws BackupError if it is too short. */
export function cleanPassphrase(text: string): string {
  const passphrase = text.replace(/\r?\n$/, '');
  if (passphrase.length >= minPassphrase) return passphrase;
  throw new BackupError(`The passphrase must have at least ${minPassphrase} characters.`);
}

/** The fingerprint of a SECRET_KEY, which the database has too. */
export const fingerprintOf = (secretKey: string): string =>
  createKeyring({ secretKey, previousSecretKey: null }).fingerprint;

const associatedData = (fingerprint: string) => Buffer.from(`switchyard backup key ${fingerprint}`);

function parse(text: string): z.output<typeof keyFile> {
  try {
    return keyFile.parse(JSON.parse(text));
  } catch (error) {
    throw new BackupError('The file with the key in the backup is damaged.', { cause: error });
  }
}
