import { createCipheriv, createDecipheriv } from 'node:crypto';

/** Encrypts the messages between processes: every role that may connect to the database may listen to a channel and notify it. */
export interface MessageCipher {
  /** Returns the text encrypted as a message of this process. */
  seal(text: string): string;
  /** Returns the text of a message of another process; null if it was not encrypted by a process with the same key. */
  open(sender: string, sealed: string): string | null;
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
/** The keys of the senders of the last messages are kept. */
const maxKeys = 100;

/**
 * Creates a {@link MessageCipher}. `keyOf` returns the key of a sender. Each start of a process is a sender of its own, so that its
 * messages can be counted instead of having random nonces, of which there are too few for years of drafts.
 */
export function createMessageCipher(sender: string, keyOf: (sender: string) => Buffer): MessageCipher {
  const keys = new Map<string, Buffer>();
  const ownKey = keyOf(sender);
  let count = 0;
  const keyOfSender = (from: string) => {
    const known = keys.get(from);
    if (known) return known;
    if (keys.size >= maxKeys) keys.clear();
    const key = keyOf(from);
    keys.set(from, key);
    return key;
  };
  return {
    seal(text) {
      count += 1;
      const nonce = Buffer.alloc(nonceBytes);
      nonce.writeBigUInt64BE(BigInt(count), nonceBytes - 8);
      const cipher = createCipheriv(algorithm, ownKey, nonce);
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64',
      );
    },
    open(from, text) {
      const sealed = Buffer.from(text, 'base64');
      if (sealed.length < nonceBytes + tagBytes) return null;
      const end = sealed.length - tagBytes;
      try {
        const nonce = sealed.subarray(0, nonceBytes);
        const decipher = createDecipheriv(algorithm, keyOfSender(from), nonce, { authTagLength: tagBytes });
        decipher.setAuthTag(sealed.subarray(end));
        return Buffer.concat([decipher.update(sealed.subarray(nonceBytes, end)), decipher.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}
