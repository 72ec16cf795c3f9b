import { InMemorySpanExporter, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it } from 'vitest';
import { openTracing } from '../../../src/tracing/open-tracing.ts';
import { readTraceparent } from '../../../src/tracing/traceparent.ts';
import type { TracingOptions } from '../../../src/tracing/tracing.ts';

const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

async function open(options: Partial<TracingOptions> = {}) {
  const lines: [object, string][] = [];
  const log = { warn: (fields: object, message: string) => void lines.push([fields, message]) };
  const exporter = new InMemorySpanExporter();
  const endpoint = 'http://127.0.0.1:9';
  const tracing = await openTracing({
    endpoint,
    headers: {},
    ratio: 1,
    serviceName: 'unit',
    log,
    exporter,
    ...options,
  });
  return { tracing, lines, exporter };
}

describe('readTraceparent', () => {
  it.each([
    [`00-${traceId}-${spanId}-01`, 1],
    [`00-${traceId}-${spanId}-00`, 0],
    [`00-${traceId}-${spanId}-03`, 1],
    [`cc-${traceId}-${spanId}-01-what-the-future-will-be-like`, 1],
  ])('reads %s', (header, traceFlags) => {
    expect(readTraceparent(header)).toEqual({ traceId, spanId, traceFlags, isRemote: true });
  });

  it.each([
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  ])('refuses %j', (header) => {
    expect(readTraceparent(header)).toBeNull();
  });
});

describe('openTracing', () => {
  it('records nothing without an endpoint, or at a ratio of 0', async () => {
    expect((await open({ endpoint: null })).tracing.start('a')).toBeNull();
    expect((await open({ ratio: 0 })).tracing.start('a')).toBeNull();
  });

  it('does not record because a caller asks for it', async () => {
    const { tracing } = await open({ ratio: 1e-9 });
    expect(tracing.start('a', { traceparent: `00-${traceId}-${spanId}-01` })).toBeNull();
    expect((await open()).tracing.start('a', { traceparent: `00-${traceId}-${spanId}-00` })).toBeNull();
  });

  it('starts a new trace for a header that is not valid', async () => {
    const { tracing } = await open();
    const span = tracing.start('a', { traceparent: 'nonsense' });
    expect(span).not.toBeNull();
  });

  it('says in the log, once a minute, that spans are lost', async () => {
    const failing: SpanExporter = {
      export: (_spans, done) => done({ code: 1, error: new Error('connect ECONNREFUSED') }),
      shutdown: async () => undefined,
    };
    const { tracing, lines } = await open({ exporter: failing });
    for (const name of ['a', 'b']) tracing.start(name)?.end();
    await tracing.close();
    expect(lines).toEqual([[{ spans: 2, reason: 'connect ECONNREFUSED' }, 'Traces could not be exported.']]);
  });
});
