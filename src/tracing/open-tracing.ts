import type { Tracing, TracingOptions } from './tracing.ts';

const off: Tracing = { start: () => null, close: async () => undefined };

/** Creates the {@link Tracing} of a process. OpenTelemetry is loaded only if there are traces. */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { endpoint, ratio } = options;
  if (endpoint === null || ratio === 0) return off;
  const { createOtlpTracing } = await import('./otlp-tracing.ts');
  return createOtlpTracing({ ...options, endpoint });
}
