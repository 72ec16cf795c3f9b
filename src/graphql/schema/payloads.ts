import { DomainError } from '../../domain/errors.ts';
import { builder } from '../builder.ts';
import type { GraphqlContext } from '../context.ts';
import { toUserErrors, type UserError } from '../errors.ts';
import { ErrorCodeEnum } from './enums.ts';

/** UserError of the contract. */
export const UserErrorType = builder.objectRef<UserError>('UserError').implement({
  description: 'One thing that is wrong with an input.',
  fields: (t) => ({
    code: t.expose('code', { type: ErrorCodeEnum, description: 'What kind of thing.' }),
    message: t.exposeString('message', { description: 'What was expected, and what came.' }),
    path: t.stringList({
      nullable: true,
      description: 'Where in the arguments; null: no one value is to blame.',
      resolve: ({ path }) => (path === null ? null : [...path]),
    }),
  }),
});

/** What a mutation's payload carries beside the thing it made. */
export type Payload<T> = { readonly [K in keyof T]: T[K] | null } & {
  readonly userErrors: readonly UserError[];
  readonly clientMutationId: string | null;
};

/**
 * Runs a mutation's act: what it gives becomes the payload; a refusal of the input becomes user errors beside nulls; any
 * other refusal is thrown on.
 */
export async function toPayload<T extends object>(
  input: { readonly clientMutationId?: string | null | undefined },
  empty: { readonly [K in keyof T]: null },
  act: () => Promise<T>,
): Promise<Payload<T>> {
  const clientMutationId = input.clientMutationId ?? null;
  try {
    return { ...(await act()), userErrors: [], clientMutationId } as Payload<T>;
  } catch (error) {
    const userErrors = toUserErrors(error, ['input']);
    if (userErrors === null) throw error;
    return { ...empty, userErrors, clientMutationId } as unknown as Payload<T>;
  }
}

/** The idempotency key of a mutation: the input's or the header's. INVALID_INPUT when both are given and differ. */
export function idempotencyKeyOf(
  context: GraphqlContext,
  input: { readonly idempotencyKey?: string | null | undefined },
): string | null {
  const given = input.idempotencyKey ?? null;
  if (given !== null && context.idempotencyKey !== null && given !== context.idempotencyKey) {
    const message = '"idempotencyKey" and the header "Idempotency-Key" must agree when both are given.';
    throw new DomainError('INVALID_INPUT', message, [{ path: ['idempotencyKey'], message }]);
  }
  return given ?? context.idempotencyKey;
}

/** The descriptions of the arguments and fields that every mutation has. */
export const described = {
  input: 'What to do.',
  userErrors: 'What is wrong with the input; empty when it was done.',
  clientMutationId: 'Given back as it came.',
} as const;
