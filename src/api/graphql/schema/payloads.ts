import {
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { type Issue, invalidInput, refuse } from '../../../common/errors.ts';
import { type CreateOptions, checkIdempotencyKey } from '../../../domain/idempotency.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import type { UserError } from '../errors.ts';
import { ErrorCodeEnum } from './enums.ts';

export const UserErrorType = builder.objectRef<UserError>('UserError').implement({
  description: 'Problem with the input of a mutation.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeEnum, description: 'Code of the problem, for programs to act on.' }),
    message: t.exposeString('message', {
      description: 'Explanation of the problem for people: the expected value and the one received.',
    }),
    path: t.stringList({
      nullable: true,
      description:
        'Path to the invalid value in the arguments, starting with `input`; null if no single value is the cause.',
      resolve: ({ path }) => (path === null ? null : [...path]),
    }),
  }),
});

/** Fields of every payload. Payloads of mutations that take an idempotency key show `wasReplayed`. */
export interface PayloadBase {
  readonly wasReplayed: boolean;
  readonly userErrors: readonly UserError[];
  readonly clientMutationId: string | null;
}

/**
 * The idempotency key of a mutation, from the input or the header. INVALID_INPUT if both are set and differ, or if the
 * header comes with several mutations that take a key: it can only belong to one.
 */
function idempotencyKeyOf(
  context: GraphqlContext,
  input: { readonly idempotencyKey?: string | null | undefined },
  info: GraphQLResolveInfo,
): string | null {
  const inputKey = input.idempotencyKey ?? null;
  const { idempotencyKey: header } = context;
  if (header === null) return inputKey;
  const path = ['idempotencyKey'];
  const count = countKeyedMutations(info, info.operation.selectionSet);
  if (count > 1) {
    const message = `The header "Idempotency-Key" is for one mutation, but the operation has ${count}`;
    throw refuse(path, `${message}: give each its own "idempotencyKey".`);
  }
  if (inputKey !== null && inputKey !== header) {
    throw refuse(path, '"idempotencyKey" and the header "Idempotency-Key" must agree when both are given.');
  }
  return header;
}

// The gate and validation guarantee that this recursion ends soon.
function countKeyedMutations(info: GraphQLResolveInfo, set: SelectionSetNode): number {
  let count = 0;
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      if (takesKey(info.schema, selection.name.value)) count += 1;
      continue;
    }
    const within = selection.kind === Kind.INLINE_FRAGMENT ? selection : info.fragments[selection.name.value];
    if (within) count += countKeyedMutations(info, within.selectionSet);
  }
  return count;
}

function takesKey(schema: GraphQLSchema, mutation: string): boolean {
  const input = getNamedType(schema.getMutationType()?.getFields()[mutation]?.args[0]?.type);
  return isInputObjectType(input) && 'idempotencyKey' in input.getFields();
}

/**
 * The options of a mutation: its {@link idempotencyKeyOf}, if it takes a key, and `onClaim`, which tells if it had run
 * before. Throws the errors of that function, and INVALID_INPUT for a malformed key.
 */
export function createOptionsOf(
  context: GraphqlContext,
  input: { readonly idempotencyKey?: string | null | undefined },
  info: GraphQLResolveInfo,
  onClaim: (wasReplayed: boolean) => void,
): CreateOptions {
  if (!takesKey(info.schema, info.fieldName)) return {};
  const idempotencyKey = idempotencyKeyOf(context, input, info);
  if (idempotencyKey !== null) checkIdempotencyKey(idempotencyKey);
  return { idempotencyKey, onClaim };
}

/**
 * Throws INVALID_INPUT at each of these members that is null: a change may omit them, but cannot clear them. For
 * members whose null the domain would read as missing.
 */
export function refuseNulls<Name extends string>(change: { readonly [Key in Name]?: unknown }, names: readonly Name[]) {
  const issues = names.flatMap((name): Issue[] =>
    change[name] === null ? [{ path: [name], message: `"${name}" must not be null: leave it out to keep it.` }] : [],
  );
  if (issues.length > 0) throw invalidInput(issues);
}

/** The end of the description of a secret that a payload shows only once. */
export const shownOnceDescription = 'Shown only once. Null if `wasReplayed` is true or there are user errors.';
/** The description of the `version` of a resource. */
export const versionDescription =
  'Version of the resource, which starts at 1 and grows by 1 with each change. Send it as `expectedVersion` to avoid overwriting other changes.';
