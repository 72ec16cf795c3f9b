import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { SpanStart, TraceSpan } from '../common/trace-span.ts';

/** Starts the traces of this process, and sends their spans. */
export interface Tracing {
  /**
   * Starts the first span of this process in a trace; null: it is not recorded. `traceparent`: the header of a caller, whose trace it
   * continues. The caller can prevent a record, but not cause one.
   */
  start(name: string, options?: SpanStart & { readonly traceparent?: string | null }): TraceSpan | null;
  /** Sends the remaining spans. Never rejects. */
  close(): Promise<void>;
}

/** Settings of traces. */
export interface TracingOptions {
  /** The base address of an OTLP/HTTP receiver; null: there are no traces. */
  readonly endpoint: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The part of traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  readonly serviceName: string;
  readonly log: { warn(fields: object, message: string): void };
  /** Replaces the exporter to `endpoint`; tests use it. */
  readonly exporter?: SpanExporter;
}
