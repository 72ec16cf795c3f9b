/** A directive as it stands at a member of the schema. */
export interface AppliedDirective {
  readonly name: string;
  /** Members that are undefined are left out. */
  readonly args: Readonly<Record<string, unknown>>;
}
