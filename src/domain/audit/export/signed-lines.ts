import { createHash, type KeyObject, sign, verify } from 'node:crypto';

/** The value of `type` in the first line of an export. */
export const headerType = 'audit_log_export';
/** The version of the format, in the first line. */
export const formatVersion = 1;

/** The lines of an export so far: their number, and a digest that depends on their contents and order. */
export interface LineChain {
  /** The number of lines. */
  readonly count: number;
  /** Adds a line, as it is in the file but without its line break. */
  add(line: string | Uint8Array): void;
  /** Returns the digest in hex: `SHA-256(digest before it, line)` for each line, beginning with 32 zero bytes. */
  digest(): string;
}

/** Creates a {@link LineChain} without lines. */
export function createLineChain(): LineChain {
  let digest: Uint8Array = new Uint8Array(32);
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(line) {
      digest = createHash('sha256').update(digest).update(line).digest();
      count += 1;
    },
    digest: () => Buffer.from(digest).toString('hex'),
  };
}

/** The signed text: it names the format, so that the signature means nothing anywhere else. */
const signedText = ({ count, digest }: Pick<LineChain, 'count' | 'digest'>): Buffer =>
  Buffer.from(`switchyard ${headerType} ${formatVersion}\n${count}\n${digest()}`);

const lastLine = (chain: LineChain, signature: string): string =>
  JSON.stringify({ type: 'signature', lines: chain.count, digest: chain.digest(), signature });

/** Returns the last line of an export, which signs all lines before it with an Ed25519 key. */
export function signLines(chain: LineChain, privateKey: KeyObject): string {
  return lastLine(chain, sign(null, signedText(chain), privateKey).toString('base64'));
}

/** Returns true if a line is exactly the one that {@link signLines} returns for these lines and a key. */
export function isSignatureOf(chain: LineChain, line: string, publicKey: KeyObject): boolean {
  const [, signature = ''] = /"signature":"([A-Za-z0-9+/]{86}==)"\}$/.exec(line) ?? [];
  // The comparison covers the bytes that no signature does, such as spaces and further members.
  return (
    line === lastLine(chain, signature) && verify(null, signedText(chain), publicKey, Buffer.from(signature, 'base64'))
  );
}
