import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as the receiver got it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  /** True if it has failed. */
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A receiver of OTLP over HTTP, in JSON. */
export interface TraceReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The bodies, to look for texts that must not be in them. */
  readonly bodies: readonly string[];
  readonly paths: readonly (string | undefined)[];
  readonly keys: readonly unknown[];
  close(): Promise<void>;
}

const plainValue = (value: Record<string, unknown>): unknown => {
  const [type, plain] = Object.entries(value)[0] ?? [];
  return type === 'intValue' ? Number(plain) : plain;
};

/** Starts a receiver. */
export async function startTraceReceiver(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const paths: (string | undefined)[] = [];
  const keys: unknown[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    bodies.push(body);
    paths.push(request.url);
    keys.push(request.headers['x-api-key']);
    for (const { scopeSpans } of JSON.parse(body).resourceSpans)
      for (const scope of scopeSpans)
        for (const { traceId, spanId, parentSpanId, name, status, attributes } of scope.spans)
          spans.push({
            traceId,
            spanId,
            parentSpanId: parentSpanId ?? null,
            name,
            isError: status?.code === 2,
            attributes: Object.fromEntries(attributes.map(({ key, value }: any) => [key, plainValue(value)])),
          });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    paths,
    keys,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
