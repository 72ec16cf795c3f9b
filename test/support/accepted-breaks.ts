/** An intended change of the released schema that breaks clients. */
export interface AcceptedBreak {
  /** Matches the message of the change. */
  readonly message: RegExp;
  readonly reason: string;
}

/**
 * All accepted breaks up to the next release, whose schema will include them; before version 1 nobody depends on the schema. The
 * check of the released schema fails for a break without a line here, and for a line here without a break.
 */
export const acceptedBreaks: readonly AcceptedBreak[] = [];
