import type { SpanExporter } from '@opentelemetry/sdk-trace-base';

/** The shortest time between two lines of the log about exports that fail. */
const logIntervalMs = 60_000;

/** Wraps an exporter so that the log says when spans are lost, at most once a minute. */
export function reportingExporter(
  exporter: SpanExporter,
  log: { warn(fields: object, message: string): void },
): SpanExporter {
  let lost = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        // ExportResultCode.SUCCESS
        if (result.code !== 0) {
          lost += spans.length;
          if (performance.now() - loggedAt >= logIntervalMs) {
            loggedAt = performance.now();
            log.warn({ spans: lost, reason: result.error?.message }, 'Traces could not be exported.');
            lost = 0;
          }
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}
