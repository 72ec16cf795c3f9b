import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as NetServer } from 'node:net';

/** The address at which a process serves, as configured. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string | null;
}

/**
 * The address at which browsers and clients find the service. Every link starts with it, also those of the commands: a
 * cookie belongs to one host name, so a sign-in under one name of a machine does not count under another.
 */
export function serviceAddress({ host, port, baseUrl }: ListenAddress): string {
  return baseUrl ?? listeningAddress(host, port);
}

/** The address of the socket itself, under a name of this machine. */
export function listeningAddress(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

/** A server that listens. */
export interface HttpListener {
  readonly port: number;
  /** Stops accepting connections at the second address. The server's own `close` stops the first. */
  close(): void;
}

/**
 * The address at which browsers find the same name and port by the other family of IP. A browser that opens `localhost` tries
 * `::1` before `127.0.0.1`. If the service left one of them free, a process of the host could listen there, and its pages would
 * have the console's origin, cookie and storage.
 */
const counterparts: Readonly<Record<string, string>> = {
  '127.0.0.1': '::1',
  '::1': '127.0.0.1',
  '0.0.0.0': '::',
};

/** Errors of a host without that family of IP: no other process can listen there either. */
const unavailable = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);

/** Attempts to find a port that is free in both families, when PORT is 0. */
const maxAttempts = 20;

/**
 * Listens at HOST and PORT, and for a loopback or wildcard address also at its counterpart of the other family of IP. Throws a
 * sentence that names the variable when one of them is taken or cannot be used.
 */
export async function listen(
  server: Server,
  { host, port }: Pick<ListenAddress, 'host' | 'port'>,
): Promise<HttpListener> {
  for (let attempt = 1; ; attempt++) {
    await listenAt(server, { host, port });
    const { port: boundPort, address } = server.address() as AddressInfo;
    // The resolved address: HOST may be the name localhost.
    const counterpart = counterparts[address];
    if (counterpart === undefined) return { port: boundPort, close: () => undefined };
    const second = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
    try {
      // Only IPv6: at the wildcard, IPv4 is the server's own already.
      await listenAt(second, { host: counterpart, port: boundPort }, true);
      return { port: boundPort, close: () => second.close() };
    } catch (error) {
      const { code = '' } = (error as Error).cause as NodeJS.ErrnoException;
      if (unavailable.has(code)) return { port: boundPort, close: () => undefined };
      await new Promise((resolve) => server.close(resolve));
      if (port !== 0 || attempt === maxAttempts) throw error;
    }
  }
}

function listenAt(
  server: NetServer,
  { host, port }: Pick<ListenAddress, 'host' | 'port'>,
  ipv6Only = false,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) =>
      reject(new Error(listenErrorMessage({ host, port }, error), { cause: error }));
    server.once('error', onError);
    server.listen({ port, host, ipv6Only }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function listenErrorMessage(
  { host, port }: Pick<ListenAddress, 'host' | 'port'>,
  { code, syscall, message }: NodeJS.ErrnoException,
): string {
  const listenAddress = `HOST ${host}, PORT ${port}`;
  if (code === 'EADDRINUSE')
    return `Another process is already listening at ${listeningAddress(host, port)} (${listenAddress}). Set PORT to another number.`;
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `HOST must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them, but was ${host} (${code}).`;
  if (code === 'EACCES') return `PORT must be one that this process may listen on, but was ${port} (${code}).`;
  return `HOST and PORT must say where this process can listen, but were ${host} and ${port}: ${message}.`;
}
