import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';

const actionSchema = z.object({
  kind: z.enum(['download', 'upload', 'verify']),
  href: z.string(),
  header: z.record(z.string(), z.string()),
  oid: z.string(),
  size: z.number(),
});

/** An action that a forge's LFS server named: a request with its own address and headers, which often hold a credential. */
export type LfsAction = z.infer<typeof actionSchema>;

/** Seals actions in tokens that only this gateway can read. */
export interface ActionSeal {
  /** Returns a token for a URL; null if the action is too long. It is valid for this repository only. */
  seal(repositoryId: string, action: LfsAction): string | null;
  /** Returns the action; null if the token is not from this gateway and repository. */
  open(repositoryId: string, token: string): LfsAction | null;
}

/** Node accepts request headers of 16 KiB, with everything in them. */
const maxTokenLength = 12_000;
const [algorithm, ivBytes, tagBytes] = ['aes-256-gcm', 12, 16] as const;

/** Creates a seal with its own key. Nothing is stored for an action, however many there are. */
export function createActionSeal(): ActionSeal {
  const key = randomBytes(32);
  return {
    seal(repositoryId, action) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(repositoryId));
      const sealed = Buffer.concat([cipher.update(JSON.stringify(action)), cipher.final()]);
      const token = Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
      return token.length > maxTokenLength ? null : token;
    },
    open(repositoryId, token) {
      try {
        const bytes = Buffer.from(token, 'base64url');
        const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
        decipher.setAAD(Buffer.from(repositoryId));
        decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
        const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]);
        return actionSchema.parse(JSON.parse(text.toString('utf8')));
      } catch {
        return null;
      }
    },
  };
}
