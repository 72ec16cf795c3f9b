import type { InputObjectRef, ObjectRef } from '@pothos/core';
import { type GraphQLOutputType, type GraphQLResolveInfo, isObjectType } from 'graphql';
import type { CreateOptions } from '../../../domain/idempotency.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { type GraphqlContext, renewLoaders } from '../context.ts';
import { toUserErrors } from '../errors.ts';
import { type Condition, needs } from './needs.ts';
import { createOptionsOf, type PayloadBase } from './payloads.ts';

/** The member that the input of every mutation has, and the one of those that create or send something. */
interface InputBase {
  readonly clientMutationId?: string | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

type InputNames = Readonly<Record<string, string>>;

/** The declaration of a mutation. */
export interface MutationOptions<Input extends InputBase, Payload extends PayloadBase> {
  readonly input: InputObjectRef<SchemaTypes, Input>;
  /** Made with `payloadType`. */
  readonly payload: ObjectRef<SchemaTypes, Payload>;
  /** The permissions that it needs, all of them; none: it depends on the input, or nothing is needed. */
  readonly needs: readonly Condition[];
  readonly description: string;
  /** Members of the input by the names that the domain has for them, where these differ. A dotted one is nested. */
  readonly names?: InputNames | ((input: Input) => InputNames);
  /**
   * Does it and gives the things of the payload. A refusal that this door says as a user error becomes one beside nulls; any
   * other error is thrown on, and makes the payload null.
   */
  readonly act: (
    input: Input,
    context: GraphqlContext,
    /** The idempotency key of the call, for what the mutation creates or sends; empty for a mutation that takes no key. */
    options: CreateOptions,
    info: GraphQLResolveInfo,
  ) => Promise<Omit<Payload, keyof PayloadBase>>;
}

/**
 * Adds a mutation to the schema: one input, one payload. The payload is nullable: an error of one mutation leaves the answers
 * of the others in the same document as they are, among them what is shown only once.
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
        // An earlier mutation of the document may have read what this one changes.
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

/** Null for each field of an object type. */
function nothingOf(type: GraphQLOutputType): Record<string, null> {
  const fields = isObjectType(type) ? type.getFields() : {};
  return Object.fromEntries(Object.keys(fields).map((name) => [name, null]));
}
