/** A directive as applied to a member of the schema. */
export interface AppliedDirective {
  readonly name: string;
  /** Undefined members are omitted. */
  readonly args: Readonly<Record<string, unknown>>;
}
