import { connect, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** A TCP proxy in front of PostgreSQL that can fail in the ways in which networks and servers do. */
export interface FaultProxy {
  /** The database's address by way of the proxy. */
  readonly databaseUrl: string;
  readonly port: number;
  /** Connections that are open. */
  count(): number;
  /** Connections that were accepted so far. */
  accepted(): number;
  /** Stops forwarding in both directions, for open and new connections. Nothing is closed. */
  hold(): void;
  /** Forwards again: first everything that came in the meantime. */
  heal(): void;
  /** Resets every connection, and new ones as soon as they are accepted. */
  refuse(): void;
  /** Takes connections again. */
  accept(): void;
  /** Delays everything that the server sends from now on; 0: not at all. */
  delay(ms: number): void;
  /** Leads new connections to another server, and resets those that are open. */
  moveTo(databaseUrl: string): void;
  close(): Promise<void>;
}

/** Options of a {@link FaultProxy}. */
export interface FaultProxyOptions {
  /** Collects the server's bytes for so long and sends them at once: errors and the end arrive in one piece. */
  readonly bufferMs?: number;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Forwards what was held back. */
  flush(): void;
}

/** Starts a proxy for a database's address, which may be a socket's folder (`?host=/folder`). */
export async function startFaultProxy(databaseUrl: string, options: FaultProxyOptions = {}): Promise<FaultProxy> {
  let { bufferMs = 0 } = options;
  const url = new URL(databaseUrl);
  let target = targetOf(url);
  const pairs = new Set<Pair>();
  let isPaused = false;
  let isRefusing = false;
  let accepted = 0;

  const open = (client: Socket): void => {
    accepted += 1;
    if (isRefusing) {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const server = connect(target);
    const toServer = createPipe(
      client,
      server,
      () => 0,
      () => isPaused,
    );
    const toClient = createPipe(
      server,
      client,
      () => bufferMs,
      () => isPaused,
    );
    const pair: Pair = {
      client,
      server,
      flush() {
        toServer();
        toClient();
      },
    };
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
  };

  const listener = createServer({ allowHalfOpen: true }, open);
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String(port);

  const cut = () => {
    for (const { client, server } of pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  };
  return {
    databaseUrl: url.href,
    port,
    count: () => pairs.size,
    accepted: () => accepted,
    hold() {
      isPaused = true;
    },
    heal() {
      isPaused = false;
      for (const pair of pairs) pair.flush();
    },
    refuse() {
      isRefusing = true;
      cut();
    },
    accept() {
      isRefusing = false;
    },
    delay(ms) {
      bufferMs = ms;
    },
    moveTo(databaseUrl) {
      target = targetOf(new URL(databaseUrl));
      cut();
    },
    async close() {
      const closed = new Promise((resolve) => listener.close(resolve));
      cut();
      await closed;
    },
  };
}

function targetOf(url: URL): NetConnectOpts {
  const folder = url.searchParams.get('host');
  return folder
    ? { path: `${folder}/.s.PGSQL.${url.port || 5432}` }
    : { host: url.hostname, port: Number(url.port || 5432) };
}

/** Forwards one direction; gives the function that sends what was held back. */
function createPipe(from: Socket, to: Socket, bufferMs: () => number, isPaused: () => boolean): () => void {
  let waiting: Buffer[] = [];
  let hasEnded = false;
  let isPlanned = false;
  const flush = () => {
    isPlanned = false;
    if (isPaused()) return;
    if (waiting.length > 0 && !to.destroyed) to.write(Buffer.concat(waiting));
    waiting = [];
    if (hasEnded) to.end();
  };
  const later = () => {
    if (bufferMs() === 0 && !isPlanned) return flush();
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(flush, bufferMs());
  };
  from.on('data', (data) => {
    waiting.push(data);
    later();
  });
  from.on('end', () => {
    hasEnded = true;
    later();
  });
  // The other side receives an error as an end.
  from.on('error', () => undefined);
  from.on('close', () => {
    hasEnded = true;
    later();
  });
  return flush;
}
