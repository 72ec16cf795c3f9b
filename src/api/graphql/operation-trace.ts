import type { ExecutionResult, OperationDefinitionNode } from 'graphql';
import type { TraceSpan } from '../../common/trace-span.ts';
import type { CurrentSpan } from '../../tracing/traced-store.ts';

/** The longest name of an operation in a span, in characters. */
const maxName = 100;

/** The trace of one GraphQL operation of a request. */
export interface OperationTrace extends CurrentSpan {
  /** Starts the span of the operation, under which its statements are recorded. */
  begin(operation: OperationDefinitionNode): void;
  /** Ends it. Null: its results are a stream, or it has been answered otherwise. */
  end(result: Pick<ExecutionResult, 'errors'> | null): void;
}

/** Creates the trace of an operation below the span of its request. */
export function createOperationTrace(request: TraceSpan): OperationTrace {
  let operationSpan: TraceSpan | null = null;
  return {
    span: request,
    begin(operation) {
      const { title, attributes } = describe(operation);
      operationSpan = request.start(title, { attributes });
      this.span = operationSpan;
    },
    end(result) {
      operationSpan?.end(errorOf(result));
      this.span = request;
    },
  };
}

/**
 * Creates the trace of an operation on a WebSocket, which has no request: the span is that of the operation. Of a subscription, which may
 * last for days, only the start is recorded.
 */
export function createSocketTrace(span: TraceSpan): OperationTrace {
  return {
    span,
    begin(operation) {
      const { title, attributes } = describe(operation);
      span.rename(title);
      span.set(attributes);
      if (operation.operation !== 'subscription') return;
      span.end();
      this.span = unrecorded;
    },
    end(result) {
      span.end(errorOf(result));
    },
  };
}

const unrecorded: TraceSpan = { start: () => unrecorded, rename: () => {}, set: () => {}, end: () => {} };

function describe({ operation, name }: OperationDefinitionNode) {
  const operationName = name?.value.slice(0, maxName);
  const title = operationName === undefined ? operation : `${operation} ${operationName}`;
  return { title, attributes: { 'graphql.operation.type': operation, 'graphql.operation.name': operationName } };
}

function errorOf(result: Pick<ExecutionResult, 'errors'> | null): string | undefined {
  return result?.errors === undefined ? undefined : String(result.errors[0]?.extensions.code ?? 'GRAPHQL_ERROR');
}
