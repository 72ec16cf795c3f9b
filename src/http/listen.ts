import type { Server } from 'node:http';

/** What says where a process serves. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string | null;
}

/**
 * Where browsers and clients find the service. Every link is made of this, the commands' too: a cookie is for one host, so
 * that who signs in at one name of a machine is a stranger at its other.
 */
export function serviceAddress({ host, port, baseUrl }: Place): string {
  return baseUrl ?? listeningAddress(host, port);
}

/** The address of the socket itself, by a name that this machine has for it. */
export function listeningAddress(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

/** Listens at HOST and PORT; throws a sentence that names the variable when that is not possible. */
export function listen(server: Server, { host, port }: Pick<Place, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(whyNot({ host, port }, error), { cause: error })),
    );
    server.listen(port, host, resolve);
  });
}

function whyNot(
  { host, port }: Pick<Place, 'host' | 'port'>,
  { code, syscall, message }: NodeJS.ErrnoException,
): string {
  const place = `HOST ${host}, PORT ${port}`;
  if (code === 'EADDRINUSE') return `Another process listens there already (${place}). Set PORT to another number.`;
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `HOST must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them, but was ${host} (${code}).`;
  if (code === 'EACCES') return `PORT must be one that this process may listen on, but was ${port} (${code}).`;
  return `HOST and PORT must say where this process can listen, but were ${host} and ${port}: ${message}.`;
}
