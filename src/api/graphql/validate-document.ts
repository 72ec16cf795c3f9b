import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  specifiedRules,
  type ValidationRule,
  validate,
} from 'graphql';
import { DeferLabelsRule } from './defer.ts';
import { findExceededLimit } from './document-limits.ts';
import { OneOfVariablesRule } from './one-of-variables.ts';

/** The project's own validation rules, in addition to GraphQL's. */
export function ownRules(isIntrospectable: boolean): ValidationRule[] {
  const always = [DeferLabelsRule, OneOfVariablesRule];
  return isIntrospectable ? always : [...always, NoSchemaIntrospectionCustomRule];
}

/**
 * The errors of a document. The limits are checked first: some of GraphQL's rules take time quadratic in the number of
 * fields.
 */
export function findProblems(
  schema: GraphQLSchema,
  document: DocumentNode,
  isIntrospectable: boolean,
): readonly GraphQLError[] {
  const limitError = findExceededLimit(document);
  return limitError ? [limitError] : validate(schema, document, [...specifiedRules, ...ownRules(isIntrospectable)]);
}
