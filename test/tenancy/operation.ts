import type { IdKind } from '../../src/domain/ids.ts';
import type { Row } from './rows.ts';

/** An HTTP request without its caller. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Replaces a body: the fields of a form, each sent as a file. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response to an operation. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: string;
}

/** An input of an operation that takes an id. */
export interface Slot {
  readonly name: string;
  readonly kinds: readonly IdKind[];
  readonly isRequired: boolean;
  /** True for an ancestor on the path to the subject: always filled with an own object. */
  readonly isAncestor?: boolean;
  /** The enclosing inputs with exactly one member, outermost first. */
  readonly choices?: readonly Choice[];
  /** True if it is tested only together with the operation's other slots. */
  readonly isOfMany?: boolean;
  /** The rows of the kind that are valid, if not all. */
  readonly fits?: ((row: Row) => boolean) | undefined;
  /** True for objects of the enterprise itself instead of an organization's. */
  readonly isOfEnterprise?: boolean;
}

/** An input with exactly one member, and the member that contains a slot. */
export interface Choice {
  /** The input's name, such as `input.scope`. */
  readonly of: string;
  readonly member: string;
  /** Returns true if the variant with this number uses this member. */
  readonly isIn: (variant: number) => boolean;
}

/** The values for an operation. */
export interface Fill {
  /** Unprefixed ids by slot name; missing slots are omitted. */
  readonly ids: ReadonlyMap<string, { readonly kind: IdKind; readonly id: string }>;
  /** Texts by input name. */
  readonly texts: ReadonlyMap<string, string>;
  /** The name of an object, for paths that contain a name beside the id. */
  readonly nameOf: (kind: IdKind, id: string) => string;
  /** Selects the value of each enum, and one of several own objects. */
  readonly variant: number;
  /** True if optional inputs are included. */
  readonly isFull: boolean;
}

/** A route, a field or a mutation, and the function that builds its requests. */
export interface Operation {
  readonly name: string;
  readonly isWrite: boolean;
  readonly slots: readonly Slot[];
  /** The names of inputs whose text identifies or finds an object. */
  readonly texts: readonly string[];
  /** True if there are optional inputs. */
  readonly hasOptional: boolean;
  /** The number of variants to try. */
  readonly variants: number;
  call(fill: Fill): HttpCall;
  isSuccess(answer: Answer): boolean;
  /** Called with every response to a call with own objects only. */
  onOwnAnswer?(answer: Answer): void;
}
