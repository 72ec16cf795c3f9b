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

/** The rules that a document must keep beside GraphQL's own. */
export function ownRules(isIntrospectable: boolean): ValidationRule[] {
  const always = [DeferLabelsRule, OneOfVariablesRule];
  return isIntrospectable ? always : [...always, NoSchemaIntrospectionCustomRule];
}

/** Errors of a document, by our limits first: the time of some of GraphQL's rules grows with the square of its fields. */
export function findProblems(
  schema: GraphQLSchema,
  document: DocumentNode,
  isIntrospectable: boolean,
): readonly GraphQLError[] {
  const limitError = findExceededLimit(document);
  return limitError ? [limitError] : validate(schema, document, [...specifiedRules, ...ownRules(isIntrospectable)]);
}
