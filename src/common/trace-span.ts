/** Values of a span by their names in OpenTelemetry's semantic conventions. Never secrets, and no text of users or agents. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The side of a request that a span measures; `internal`: neither. */
export type SpanKind = 'server' | 'client' | 'internal';

/** Options of a new span. */
export interface SpanStart {
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
}

/** A span of a trace that is recorded. */
export interface TraceSpan {
  /** Starts a span below this one. */
  start(name: string, options?: SpanStart): TraceSpan;
  /** Sets the name, once it is known. */
  rename(name: string): void;
  /** Adds attributes; undefined values are left out. */
  set(attributes: SpanAttributes): void;
  /** Ends the span, once: later calls change nothing. `errorType`: the span failed, with this class of errors or this code. */
  end(errorType?: string): void;
}

/** Starts a span below the current one; null: nothing is recorded. */
export type StartSpan = (name: string, options?: SpanStart) => TraceSpan | null;

/** Returns the class of an error for {@link TraceSpan.end}. Messages may contain secrets. */
export const errorTypeOf = (error: unknown): string => (error instanceof Error ? error.name : 'Error');

/** Runs a function in a span, which ends with it. Null: without one. */
export async function inSpan<T>(span: TraceSpan | null, act: () => Promise<T>): Promise<T> {
  if (span === null) return act();
  try {
    const result = await act();
    span.end();
    return result;
  } catch (error) {
    span.end(errorTypeOf(error));
    throw error;
  }
}
