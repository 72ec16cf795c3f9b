import { type ExecutionResult, type GraphQLError, getOperationAST } from 'graphql';
import type { Log } from '../../domain/context.ts';
import { jsonReply, Reply } from '../../http/reply.ts';
import { queryOf, type RequestView } from '../../http/request-view.ts';
import { charged, failure } from './answers.ts';
import type { GraphqlContext } from './context.ts';
import type { Outbox } from './outbox.ts';
import { type Engine, isIterable, type OperationResult, prepareOperation } from './prepare-operation.ts';
import { eventText, jsonOf } from './result-events.ts';
import { maxOperationIdLength, operationIdOf, paramsOf } from './single-connection-request.ts';

/** The maximum number of concurrent operations on one stream. */
const maxOperations = 100;

/** Options of {@link createConnectionOperations}. */
export interface ConnectionOperationsOptions {
  readonly engine: Engine;
  /** Receives the results. */
  readonly outbox: Outbox;
  readonly log: Pick<Log, 'error'>;
}

/** The operations whose results go to one stream. */
export interface ConnectionOperations {
  /** Starts the operation of a request, whose body is `text`: 202, or the error. */
  start(request: RequestView, text: string, context: GraphqlContext): Promise<Reply>;
  /** Ends the operation that a request names by its id, if it exists. */
  complete(request: RequestView): Reply;
  /** Ends all operations, including those that are starting. */
  end(): void;
}

/** See {@link ConnectionOperations}. */
export function createConnectionOperations(options: ConnectionOperationsOptions): ConnectionOperations {
  const { outbox } = options;
  /** The function that stops each operation; null while it starts. */
  const operations = new Map<string, (() => void) | null>();
  let isEnded = false;

  const begin = async (
    id: string,
    context: GraphqlContext,
    params: Readonly<Record<string, unknown>>,
    method: string,
  ): Promise<Reply> => {
    const prepared = await prepareOperation(options.engine, context, params);
    if (prepared.errors !== null) {
      operations.delete(id);
      return jsonReply(400, { errors: prepared.errors });
    }
    const { args } = prepared;
    const operation = getOperationAST(args.document, args.operationName)?.operation;
    if (operation === undefined || (operation === 'mutation' && method === 'GET')) {
      operations.delete(id);
      return operation === undefined
        ? failure(400, 'BAD_REQUEST', 'The document must have the operation that "operationName" names.')
        : failure(405, 'BAD_REQUEST', 'A mutation must be sent by POST.');
    }
    const result = await prepared[operation === 'subscription' ? 'subscribe' : 'execute'](args);
    const stop = () => {
      if (isIterable(result))
        result[Symbol.asyncIterator]()
          .return?.()
          .catch(() => undefined);
    };
    // The stream or the operation ended while it started, so only this call can stop it.
    if (isEnded || !operations.has(id)) stop();
    else {
      operations.set(id, stop);
      deliver(outbox, id, result, () => operations.get(id) === stop)
        .catch((error: unknown) => options.log.error({ err: error }, 'An operation on a stream failed.'))
        .finally(() => {
          if (operations.get(id) === stop) operations.delete(id);
        });
    }
    return new Reply(202);
  };

  return {
    async start(request, text, context) {
      const read = paramsOf(request, text);
      if (read.error !== null) return read.error;
      const { params } = read;
      const id = operationIdOf(params);
      if (id === null) {
        const message = `"extensions.operationId" must be a text of 1 to ${maxOperationIdLength} letters.`;
        return failure(400, 'INVALID_INPUT', message);
      }
      if (operations.has(id)) return failure(409, 'INVALID_STATE', 'The stream already has an operation with this id.');
      if (operations.size >= maxOperations) {
        return failure(429, 'LIMIT_EXCEEDED', `A stream may have at most ${maxOperations} operations at once.`);
      }
      operations.set(id, null);
      const answer = await begin(id, context, params, request.method).catch((error: unknown) => {
        operations.delete(id);
        throw error;
      });
      return charged(answer, context.charge);
    },
    complete(request) {
      const id = queryOf(request).get('operationId');
      if (id === null) return failure(400, 'INVALID_INPUT', 'The address must name the operation: "?operationId=…".');
      operations.get(id)?.();
      operations.delete(id);
      return new Reply(200);
    },
    end() {
      isEnded = true;
      for (const stop of operations.values()) stop?.();
      operations.clear();
    },
  };
}

async function deliver(outbox: Outbox, id: string, result: OperationResult, isWanted: () => boolean): Promise<void> {
  const put = (each: ExecutionResult) =>
    outbox.put(eventText('next', `{"id":${JSON.stringify(id)},"payload":${jsonOf(each)}}`));
  try {
    const results = isIterable(result) ? result : [result];
    for await (const each of results) {
      if (!isWanted()) return;
      await put(each);
    }
  } catch (error) {
    if (isWanted()) await put({ errors: [error as GraphQLError] });
  }
  if (isWanted()) await outbox.put(eventText('complete', JSON.stringify({ id })));
}
