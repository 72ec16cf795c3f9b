import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.ts';

/** A server that answers `GET /metrics` on an address of its own. */
export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Options of {@link serveMetrics}. */
export interface ServeMetricsOptions {
  /** The address to listen on. Port 0: any free port. */
  readonly address: { readonly host: string; readonly port: number };
  /** Updates what is only known at the time of a scrape. */
  readonly update: () => Promise<void>;
}

/** Serves the metrics in the format of Prometheus. Rejects with the system's error if it cannot listen. */
export async function serveMetrics(
  { registry }: Metrics,
  { address: { host, port }, update }: ServeMetricsOptions,
): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('The metrics are at /metrics.\n');
      return;
    }
    update()
      .then(() => registry.metrics())
      .then(
        (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
  });
  server.maxConnections = 100;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port: listeningPort } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listeningPort}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
