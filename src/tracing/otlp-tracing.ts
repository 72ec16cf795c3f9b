import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  SpanKind as TracerSpanKind,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import type { SpanAttributes, SpanKind, SpanStart, TraceSpan } from '../common/trace-span.ts';
import { reportingExporter } from './reporting-exporter.ts';
import { readTraceparent } from './traceparent.ts';
import type { Tracing, TracingOptions } from './tracing.ts';

/** Creates the {@link Tracing} of a process that sends spans to `endpoint`. */
export function createOtlpTracing(options: TracingOptions & { readonly endpoint: string }): Tracing {
  const { endpoint, headers, ratio, serviceName, log, exporter } = options;
  const byTraceId = new TraceIdRatioBasedSampler(ratio);
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName }),
    sampler: new ParentBasedSampler({
      root: byTraceId,
      // A caller that may not be trusted must not cause work here.
      remoteParentSampled: byTraceId,
      remoteParentNotSampled: new AlwaysOffSampler(),
    }),
    spanProcessors: [
      new BatchSpanProcessor(
        reportingExporter(exporter ?? new OTLPTraceExporter({ url, headers: { ...headers } }), log),
      ),
    ],
  });
  const tracer = provider.getTracer('switchyard');
  return {
    start(name, { traceparent = null, ...options } = {}) {
      const remote = traceparent === null ? null : readTraceparent(traceparent);
      const parent = remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
      const span = tracer.startSpan(name, spanOptions(options), parent);
      return span.isRecording() ? new RecordedSpan(tracer, span) : null;
    },
    close: () => provider.shutdown().catch(() => undefined),
  };
}

const kinds: Readonly<Record<SpanKind, TracerSpanKind>> = {
  server: TracerSpanKind.SERVER,
  client: TracerSpanKind.CLIENT,
  internal: TracerSpanKind.INTERNAL,
};

const spanOptions = ({ kind = 'internal', attributes = {} }: SpanStart) => ({
  kind: kinds[kind],
  attributes: defined(attributes),
});

const defined = (attributes: SpanAttributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

class RecordedSpan implements TraceSpan {
  readonly #tracer: Tracer;
  readonly #span: Span;

  constructor(tracer: Tracer, span: Span) {
    this.#tracer = tracer;
    this.#span = span;
  }

  start(name: string, options: SpanStart = {}): TraceSpan {
    const below = trace.setSpan(ROOT_CONTEXT, this.#span);
    return new RecordedSpan(this.#tracer, this.#tracer.startSpan(name, spanOptions(options), below));
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(defined(attributes));
  }

  end(errorType?: string): void {
    if (!this.#span.isRecording()) return;
    if (errorType !== undefined) {
      this.#span.setAttribute('error.type', errorType);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}
