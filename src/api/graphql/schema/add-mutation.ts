import type { InputObjectRef, ObjectRef } from '@pothos/core';
import { type GraphQLOutputType, type GraphQLResolveInfo, isObjectType } from 'graphql';
import type { CreateOptions } from '../../../domain/idempotency.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { type GraphqlContext, renewLoaders } from '../context.ts';
import { toUserErrors } from '../errors.ts';
import { type Condition, needs } from './needs.ts';
import { createOptionsOf, type PayloadBase } from './payloads.ts';

/**
 * The base of every mutation input; `idempotencyKey` exists in the inputs of mutations that create or send something.
 */
interface InputBase {
  readonly clientMutationId?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

type InputNames = Readonly<Record<string, string>>;

/** The declaration of a mutation. */
export interface MutationOptions<Input extends InputBase, Payload extends PayloadBase> {
  readonly input: InputObjectRef<SchemaTypes, Input>;
  /** Created with `payloadType`. */
  readonly payload: ObjectRef<SchemaTypes, Payload>;
  /** The permissions that it requires, all of them. Empty: nothing is required, or it depends on the input. */
  readonly needs: readonly Condition[];
  readonly description: string;
  /** Input names by the domain's names, where they differ. A dotted name is a nested member. */
  readonly names?: InputNames | ((input: Input) => InputNames);
  /**
   * Runs the mutation and returns the objects of its payload. A domain error that GraphQL reports as a user error
   * becomes one, with null objects. Any other error is rethrown and makes the payload null.
   */
  readonly act: (
    input: Input,
    context: GraphqlContext,
    /** The idempotency key of the call, for the created or sent object; empty for a mutation without a key. */
    options: CreateOptions,
    info: GraphQLResolveInfo,
  ) => Promise<Omit<Payload, keyof PayloadBase>>;
}

/**
 * Adds a mutation to the schema: one input, one payload. The payload is nullable, so that an error of one mutation does
 * not remove the results of others in the same document, which may contain values that are shown only once.
 */
export function addMutation<Input extends InputBase, Payload extends PayloadBase>(
  name: string,
  { input: type, payload, needs: conditions, description, names = {}, act }: MutationOptions<Input, Payload>,
): void {
  const inputType: InputObjectRef<SchemaTypes, InputBase> = type;
  const payloadType: ObjectRef<SchemaTypes, PayloadBase> = payload;
  builder.mutationField(name, (t) =>
    t.field({
      type: payloadType,
      nullable: true,
      extensions: needs(...conditions),
      description,
      args: {
        input: t.arg({ type: inputType, required: true, description: `Parameters of the mutation ${name}.` }),
      },
      resolve: (_root, { input }, context, info) => {
        // An earlier mutation of the document may have cached what this one changes.
        renewLoaders(context);
        const mutationInput = input as Input;
        const inputNames = typeof names === 'function' ? names(mutationInput) : names;
        return toPayload(mutationInput, { returnType: info.returnType, names: inputNames }, (onClaim) =>
          act(mutationInput, context, createOptionsOf(context, mutationInput, info, onClaim), info),
        );
      },
    }),
  );
}

async function toPayload(
  { clientMutationId = null }: InputBase,
  { returnType, names }: Pick<GraphQLResolveInfo, 'returnType'> & { readonly names: InputNames },
  act: (onClaim: (wasReplayed: boolean) => void) => Promise<object>,
): Promise<PayloadBase> {
  let wasReplayed = false;
  try {
    const made = await act((claimed) => {
      wasReplayed = claimed;
    });
    return { ...made, wasReplayed, userErrors: [], clientMutationId };
  } catch (error) {
    const userErrors = toUserErrors(error, ['input'], names);
    if (userErrors === null) throw error;
    return { ...nothingOf(returnType), wasReplayed: false, userErrors, clientMutationId };
  }
}

/** Null for each object field. */
function nothingOf(type: GraphQLOutputType): Record<string, null> {
  const fields = isObjectType(type) ? type.getFields() : {};
  return Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
}
