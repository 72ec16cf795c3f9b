import type { IncomingMessage } from 'node:http';
import { adviceToTest, connectionText } from './connection-text.ts';
import type { ExchangeCredential } from './exchange.ts';
import { RefusedError } from './refusals.ts';
import type { GatewayRepository } from './repositories.ts';

/** The maximum size of a forge's error that is read, in bytes. */
const maxErrorBytes = 4_096;

/**
 * Makes a sentence of a forge's error response. The forge's own text is added if it is plain text or the message of
 * LFS's JSON, with secrets replaced by `mask`, and the git connection of the credential is named. Destroys the response. Never rejects.
 */
export async function readError(
  response: IncomingMessage,
  { host, path }: Pick<GatewayRepository, 'host' | 'path'>,
  { credential, mask }: Pick<ExchangeCredential, 'credential' | 'mask'>,
): Promise<RefusedError> {
  const { statusCode: status = 0 } = response;
  const text = mask(await readText(response)).trim();
  const sentence = sentenceFor(status, host, path, credential);
  const passed = status >= 400 && status < 600 && status !== 401 ? status : 502;
  return new RefusedError(
    text === '' ? sentence : `${sentence} The host says: ${/[.!?]$/.test(text) ? text : `${text}.`}`,
    passed,
  );
}

function sentenceFor(status: number, host: string, path: string, credential: ExchangeCredential['credential']): string {
  const connection = connectionText(credential);
  if (status === 401) return `${host} refused the credential of ${connection} for ${path}. ${adviceToTest(credential)}`;
  if (status === 403) return `${host} does not permit this for ${path} by ${connection}.`;
  if (status === 404) return `${host} has no repository ${path}, or ${connection} may not use it.`;
  if (status === 429) return `${host} has received too many requests. Try again later.`;
  return `${host} answered with status ${status}.`;
}

async function readText(response: IncomingMessage): Promise<string> {
  const type = response.headers['content-type'] ?? '';
  const isText = /^text\/plain\b/i.test(type);
  const isJson = /^application\/(vnd\.git-lfs\+)?json\b/i.test(type);
  const isPlain = (response.headers['content-encoding'] ?? 'identity') === 'identity';
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    if (isPlain && (isText || isJson)) {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        chunks.push(chunk.subarray(0, maxErrorBytes - bytes));
        bytes += chunk.length;
        if (bytes >= maxErrorBytes) break;
      }
    }
  } catch {
    // The response was aborted.
  }
  response.destroy();
  const text = Buffer.concat(chunks).toString('utf8');
  return isJson ? messageIn(text) : text;
}

function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : '';
  } catch {
    return '';
  }
}
