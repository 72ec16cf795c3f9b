/** The type of an event's field, and the comparisons that it supports. */
export interface EventField {
  readonly type: 'string' | 'number' | 'boolean' | 'list' | 'json' | 'recurrence';
  readonly isRequired: boolean;
  readonly description: string;
}
