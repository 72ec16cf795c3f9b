import type { SpanContext } from '@opentelemetry/api';

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads the header `traceparent` of W3C Trace Context, level 2. Null: it is not valid. */
export function readTraceparent(header: string): SpanContext | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = form.exec(header) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
