/** A change of the released schema that breaks clients and is made on purpose. */
export interface AcceptedBreak {
  /** Matches the message of the change. */
  readonly message: RegExp;
  readonly reason: string;
}

/**
 * All of them, until the next release has the schema as it is then: before version 1 nobody depends on it. A break that is in no
 * line here fails the check of the released schema, and so does a line here without a break.
 */
export const acceptedBreaks: readonly AcceptedBreak[] = [];
