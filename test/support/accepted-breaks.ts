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
    message: /'?(AddTo|Clear|Replace|addTo|clear|replace)IpAccessList(Input|Payload)?' was removed/,
    reason: 'Sets have the verbs add, remove and replace: addIpAccessListRanges and its like.',
  },
  {
    message: /^Input field '(createAsUserId|unlisted)' was removed from input object type 'CreateSessionInput'$/,
    reason: 'asUserId and isUnlisted, as everywhere else.',
  },
  {
    message: /^Input field '(message|messageAsUserId)' was removed from input object type 'SendMessageInput'$/,
    reason: 'body, as the message has it, and asUserId.',
  },
  {
    message: /^Input field 'body' of type 'String!' was added to input object type 'SendMessageInput'$/,
    reason: 'It was "message".',
  },
  {
    message: /^Input field 'sensitive' was removed from input object type 'SessionSecretInput'$/,
    reason: 'isSensitive, as a secret has it.',
  },
  {
    message:
      /^Input field '(organizationId|serviceUserId|userId|principal|scope)' .+ input object type '(Assign|Unassign)RoleInput'$/,
    reason: 'A principal and a scope of one member each: leaving the organization out meant the enterprise.',
  },
  {
    message:
      /^Input field '((organizationId|roleId|serviceUserId|userId)' was removed from input object type 'CreateApiKeyInput'|CreateApiKeyInput\.kind' changed type)/,
    reason: 'What a key needs stands in its kind: a role and an organization were given by omission.',
  },
  {
    message:
      /^Input field '(organizationId' was removed|scope' of type 'ScopeInput!' was added).+ 'Create(Service)?UserInput'$/,
    reason: 'A scope: leaving the organization out meant the enterprise, or the only organization.',
  },
  {
    message: /^Input field 'Create(Service)?UserInput\.roleId' changed type from 'ID' to 'ID!'$/,
    reason: 'A role is not given by omission.',
  },
  {
    message: /^Field 'isNewSession' was removed from object type 'CreateSessionPayload'$/,
    reason: 'wasReplayed, as all mutations with an idempotency key have it.',
  },
  {
    message: /^Field 'endedBy' was removed from object type 'StatusEvent'$/,
    reason: 'endReason, of an enum, as a session has it.',
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
  {
    message: /'createdById' was removed from input object type 'SessionFilter'/,
    reason: 'A filter takes several creators: createdByIds.',
  },
  {
    message:
      /^Argument '(?:status: ApiKeyStatus|serviceUserId: ID|email: String|includeInactive: Boolean)' was removed from field '\w+\.(?:apiKeys|users|serviceUsers)'$/,
    reason: 'Every list is narrowed by its filter, of which these are members.',
  },
  {
    message: /^Input field 'field' of type 'AuditLogOrderField!' was added to input object type 'AuditLogOrder'$/,
    reason: 'Every order has a field and a direction.',
  },
  {
    message:
      /^Field '(?:PullRequest|StatusEvent|TurnEvent|PlanEntry|ToolCallEvent|QuestionEvent|PermissionEvent)\.\w+' changed type from 'String(!?)' to '(?:PullRequest|SessionRequest|Turn|PlanEntry|Tool|Question|Permission)\w*\1'$/,
    reason: 'A closed set of words is an enum, so that a client can handle every value.',
  },
  {
    message: /^Field '(?:data|body)' was removed from object type '\w+Event'$/,
    reason: 'What an entry of a log has is typed: the JSON told the names of the store.',
  },
  {
    message:
      /^Field '(Organization|Enterprise|Session)\.\w+' changed type from '(\w+Connection|Consumption|SessionInsights)!' to '\2'$/,
    reason: 'A refusal for lack of permission must not take the object that the field is of.',
  },
  {
    message: /^(?:Field '\w+\.url'|Input field '\w+\.url') changed type from 'String(!?)' to 'URI\1'$/,
    reason: 'An address has a scalar that says what it is; in JSON it is a text as before.',
  },
];
