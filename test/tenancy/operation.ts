import type { IdKind } from '../../src/domain/ids.ts';
import type { Row } from './rows.ts';

/** One HTTP request, without who sends it. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Instead of a body: the fields of a form, each sent as a file. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: string;
}

/** A place of an operation where an id goes. */
export interface Slot {
  readonly name: string;
  readonly kinds: readonly IdKind[];
  readonly isRequired: boolean;
  /** Only on the way to what the operation is about: always filled with an own thing. */
  readonly isAncestor?: boolean;
  /** The inputs above it of which exactly one member is given, from the outside in. */
  readonly choices?: readonly Choice[];
  /** Tried only together with the operation's others. */
  readonly isOfMany?: boolean;
  /** Which rows of the kind fit, when not all do. */
  readonly fits?: ((row: Row) => boolean) | undefined;
  /** Things of the enterprise itself are meant, rather than an organization's. */
  readonly isOfEnterprise?: boolean;
}

/** An input of which exactly one member is given, and the member that a slot is under. */
export interface Choice {
  /** The input's name, such as `input.scope`. */
  readonly of: string;
  readonly member: string;
  /** Whether the variant with this number gives this member. */
  readonly isIn: (variant: number) => boolean;
}

/** What an operation is filled with. */
export interface Fill {
  /** Bare ids by the slots' names; a slot that is not here is left out. */
  readonly ids: ReadonlyMap<string, { readonly kind: IdKind; readonly id: string }>;
  /** Texts by the places' names. */
  readonly texts: ReadonlyMap<string, string>;
  /** What a thing is called, for paths that have its name beside its id. */
  readonly nameOf: (kind: IdKind, id: string) => string;
  /** Which value of each enum, and which of several own things. */
  readonly variant: number;
  /** Whether what may be left out is given. */
  readonly isFull: boolean;
}

/** A route, a field or a mutation, and how it is called. */
export interface Operation {
  readonly name: string;
  readonly isWrite: boolean;
  readonly slots: readonly Slot[];
  /** Places whose text names or finds something: their names. */
  readonly texts: readonly string[];
  /** Whether there is more to give than what must be. */
  readonly hasOptional: boolean;
  /** How many variants there are to try. */
  readonly variants: number;
  call(fill: Fill): HttpCall;
  isSuccess(answer: Answer): boolean;
  /** Told of every answer to a call with own things only. */
  onOwnAnswer?(answer: Answer): void;
}
