/** A line of a push certificate. */
export type CertificateLine =
  | { readonly type: 'command'; readonly text: string }
  | { readonly type: 'option'; readonly text: string }
  /** It says nothing about refs: a header, or a line of the signature. */
  | { readonly type: 'other' }
  | { readonly type: 'end' }
  | { readonly type: 'invalid' };

const headers = /^(certificate version 0\.1|(pusher|pushee|nonce) [^\p{C}]+)$/u;
const signatureStart = /^-----BEGIN (PGP SIGNATURE|PGP MESSAGE|SIGNED MESSAGE|SSH SIGNATURE)-----$/;
/** Git takes the last of such lines for the start of the signature, and reads commands before it. */
const anySignatureStart = /^-----BEGIN/;

const other: CertificateLine = { type: 'other' };
const invalid: CertificateLine = { type: 'invalid' };

/**
 * Reads the certificate of a signed push (`git push --signed`): headers, an empty line, commands and a signature. Each
 * pkt-line must be one line, as git writes it: git joins the lines before it reads the commands.
 */
export class CertificateReader {
  #state: 'headers' | 'commands' | 'signature' = 'headers';

  /** Takes a line with its newline. */
  take(text: string): CertificateLine {
    if (text.indexOf('\n') !== text.length - 1 || text.includes('\0')) return invalid;
    const line = text.slice(0, -1);
    if (this.#state === 'headers') return this.#takeHeader(line);
    if (this.#state === 'commands') return this.#takeCommand(line);
    if (line === 'push-cert-end') return { type: 'end' };
    return anySignatureStart.test(line) ? invalid : other;
  }

  #takeHeader(line: string): CertificateLine {
    if (line === '') {
      this.#state = 'commands';
      return other;
    }
    const option = 'push-option ';
    if (line.startsWith(option)) return { type: 'option', text: line.slice(option.length) };
    return headers.test(line) ? other : invalid;
  }

  #takeCommand(line: string): CertificateLine {
    if (!anySignatureStart.test(line)) return { type: 'command', text: line };
    this.#state = 'signature';
    return signatureStart.test(line) ? other : invalid;
  }
}
