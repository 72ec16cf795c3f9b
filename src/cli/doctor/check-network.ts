import { createServer } from 'node:http';
import { parseUrl } from '../../common/parse-url.ts';
import type { Config } from '../../config/config.ts';
import { listen, listeningAddress } from '../../http/listen.ts';
import { type Finding, failure, messageOf, ok, warning } from './finding.ts';

const answerMs = 3_000;
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Checks that HOST and PORT are free, or that a Switchyard already listens there. */
export async function checkPort({ host, port }: Config): Promise<Finding> {
  const address = listeningAddress(host, port);
  const server = createServer();
  try {
    const listener = await listen(server, { host, port });
    listener.close();
    await new Promise((resolve) => server.close(resolve));
    return ok('port', port === 0 ? 'PORT is 0: a start takes any free port.' : `${address} is free.`);
  } catch (error) {
    if (await answersAsService(address)) return ok('port', `A service answers at ${address}.`);
    return failure('port', messageOf(error), 'Set PORT and HOST, or end the process that listens there.');
  }
}

// The health check needs no token. The timer of AbortSignal.timeout would not keep this process running.
async function answersAsService(address: string): Promise<boolean> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), answerMs);
  try {
    const response = await fetch(`${address}/healthz`, { signal: late.signal, redirect: 'error' });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Checks the address that browsers use, and encryption on the way to it. */
export function checkAddress({ host, baseUrl, trustProxy, readVariable }: Config): Finding[] {
  const url = baseUrl === null ? null : parseUrl(baseUrl);
  const isOpen = !loopback.test(host);
  const findings: Finding[] = [];
  if (url === null) {
    findings.push(
      isOpen
        ? warning(
            'address',
            `HOST is ${host}, and BASE_URL is not set: links name this machine.`,
            'Set BASE_URL to the address that browsers use.',
          )
        : ok('address', 'Only this machine can reach the service.'),
    );
  } else {
    findings.push(ok('address', `Links begin with ${url.protocol}//${url.host}.`));
    if (isOpen && loopback.test(url.hostname)) {
      findings.push(
        warning(
          'address',
          'BASE_URL is an address of this machine, but HOST is open to others.',
          'Set BASE_URL to the address that browsers use.',
        ),
      );
    }
  }
  const isRemote = url === null ? isOpen : !loopback.test(url.hostname);
  if (isRemote && url?.protocol !== 'https:') {
    findings.push(
      warning(
        'tls',
        'Tokens and cookies cross the network unencrypted.',
        'Put a proxy with TLS before the service, and set BASE_URL to its https address.',
      ),
    );
  } else if (url?.protocol === 'https:') {
    findings.push(
      trustProxy === 0
        ? warning(
            'tls',
            'BASE_URL is https, so a proxy is before the service, but TRUST_PROXY is not set: all callers have the address of the proxy.',
            'Set TRUST_PROXY (docs/operations.md#behind-a-proxy).',
          )
        : ok('tls', 'A proxy ends TLS before the service.'),
    );
  }
  if (readVariable('NODE_TLS_REJECT_UNAUTHORIZED') === '0') {
    findings.push(
      failure(
        'tls',
        'NODE_TLS_REJECT_UNAUTHORIZED is 0: the service checks no certificate.',
        'Remove it, and name your certificate authority in NODE_EXTRA_CA_CERTS.',
      ),
    );
  }
  return findings;
}
