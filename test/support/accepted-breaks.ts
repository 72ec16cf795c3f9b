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
export const acceptedBreaks: readonly AcceptedBreak[] = [
  {
    message: /^Field 'Mutation\.\w+' changed type from '(\w+Payload)!' to '\1'$/,
    reason: 'An error of one mutation must not take the answers of the others in its document.',
  },
  {
    message:
      /^Type 'Actor' was removed$|^Field '\w+\.(?:owner|actor|createdBy|author)' changed type from 'Actor' to 'Principal'$/,
    reason: 'An interface has a name to show of every principal, and names service keys and the service itself.',
  },
  {
    message: /^Field 'ServiceUser\.name' changed type from 'String!' to 'String'$/,
    reason: 'One selection can have User.name and ServiceUser.name only when their types agree.',
  },
];
