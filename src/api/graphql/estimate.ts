import { GraphQLError, type GraphQLSchema } from 'graphql';
import type { Estimate } from './context.ts';
import { parseBounded } from './document-limits.ts';
import type { RequestErrorCode } from './error-codes.ts';
import { presentProblem, weigh } from './operation-gate.ts';
import type { Plans } from './plans/plans.ts';
import type { TrustedDocuments } from './trusted-documents.ts';
import { findProblems } from './validate-document.ts';

/** Options of {@link createEstimate}: those of the gate. */
export interface EstimateOptions {
  readonly schema: GraphQLSchema;
  readonly plans: Plans;
  readonly trusted: TrustedDocuments;
  readonly isIntrospectable: boolean;
}

/** See {@link Estimate}. */
export function createEstimate({ schema, plans, trusted, isIntrospectable }: EstimateOptions): Estimate {
  return ({ document: text, operationName, variables }) => {
    if (trusted.isOnly) {
      throw refused(
        'PERSISTED_QUERY_ONLY',
        'This service runs trusted documents only, so it can’t compute the cost of a text.',
      );
    }
    if (variables != null && (typeof variables !== 'object' || Array.isArray(variables))) {
      throw refused('INVALID_INPUT', '"variables" must be an object.');
    }
    const document = parseBounded(text);
    const [problem] = findProblems(schema, document, isIntrospectable);
    if (problem) {
      const { message, extensions } = presentProblem(problem, isIntrospectable);
      throw refused((extensions.code as RequestErrorCode | undefined) ?? 'GRAPHQL_VALIDATION_FAILED', message);
    }
    const plan = plans.of(document).find(operationName);
    if (!plan) {
      const message = 'The document must have the operation that "operationName" names, or one operation alone.';
      throw refused('OPERATION_RESOLUTION_FAILURE', message);
    }
    const weighed = weigh(plan, (variables ?? {}) as Readonly<Record<string, unknown>>, isIntrospectable);
    if (!weighed.errors) return weighed.cost;
    const [{ message, extensions } = refused('INVALID_INPUT', 'The variables cannot be used.')] = weighed.errors;
    throw refused(extensions.code as RequestErrorCode, message);
  };
}

// Omits locations: they refer to the estimated document, but the client would read them as locations in the requesting
// one.
function refused(code: RequestErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
