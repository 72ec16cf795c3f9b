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
  end(result: ExecutionResult | null): void;
}

/** Creates the trace of an operation below the span of its request. */
export function createOperationTrace(request: TraceSpan): OperationTrace {
  let operationSpan: TraceSpan | null = null;
  return {
    span: request,
    begin({ operation, name }) {
      const operationName = name?.value.slice(0, maxName);
      const title = operationName === undefined ? operation : `${operation} ${operationName}`;
      const attributes = { 'graphql.operation.type': operation, 'graphql.operation.name': operationName };
      operationSpan = request.start(title, { attributes });
      this.span = operationSpan;
    },
    end(result) {
      const code = result?.errors?.[0]?.extensions.code;
      operationSpan?.end(result?.errors === undefined ? undefined : String(code ?? 'GRAPHQL_ERROR'));
      this.span = request;
    },
  };
}
