import type { Bind } from '../../nested-pages.ts';

/** A part of a text, and where it must be. */
type Match = 'contains' | 'startsWith' | 'endsWith' | 'equals';

/** A comparison of two times. */
export type TimeOperator = '=' | '<' | '<=' | '>' | '>=';

/**
 * A condition of a directory on resources with these fields. A field without a value meets no comparison, so that `not` of one holds
 * for it. `id`: unprefixed. `element`: a member of a group meets the condition.
 */
export type ResourceFilter<Field extends string> =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly ResourceFilter<Field>[] }
  | { readonly kind: 'not'; readonly part: ResourceFilter<Field> }
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'present'; readonly field: Field }
  | { readonly kind: 'text'; readonly field: Field; readonly match: Match; readonly value: string }
  | { readonly kind: 'id'; readonly field: Field; readonly value: string }
  | { readonly kind: 'time'; readonly field: Field; readonly operator: TimeOperator; readonly value: Date }
  | { readonly kind: 'element'; readonly part: ResourceFilter<'memberId'> };

/** The columns of a resource by field: SQL expressions. */
export interface FilterColumns<Field extends string> {
  readonly columns: Readonly<Record<Field, string>>;
  /** The fields whose texts are compared with regard to case. */
  readonly exact: ReadonlySet<Field>;
  /** Returns the condition that a row of members meets an inner one. */
  readonly element?: (part: string) => string;
  /** The columns of the inner conditions of an element. */
  readonly elementColumns?: FilterColumns<'memberId'>;
}

/** Returns a filter as an SQL condition, which is never null. */
export function filterCondition<Field extends string>(
  filter: ResourceFilter<Field>,
  source: FilterColumns<Field>,
  bind: Bind,
): string {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.parts.map((part) => filterCondition(part, source, bind));
      return `(${parts.join(` ${filter.kind} `)})`;
    }
    case 'not':
      return `not (${filterCondition(filter.part, source, bind)})`;
    case 'constant':
      return String(filter.value);
    case 'element': {
      const { element, elementColumns } = source;
      if (element === undefined || elementColumns === undefined) throw new Error('These resources have no members.');
      return element(filterCondition(filter.part, elementColumns, bind));
    }
    default:
      return fieldCondition(filter, source, bind);
  }
}

type FieldFilter<Field extends string> = Extract<ResourceFilter<Field>, { readonly field: Field }>;

function fieldCondition<Field extends string>(
  filter: FieldFilter<Field>,
  { columns, exact }: FilterColumns<Field>,
  bind: Bind,
): string {
  const column = columns[filter.field];
  switch (filter.kind) {
    case 'present':
      return `coalesce(${column}::text, '') <> ''`;
    case 'id':
      return `${column} = ${bind(filter.value)}`;
    case 'time':
      return `${column} ${filter.operator} ${bind(filter.value)}::timestamptz`;
    case 'text': {
      const fold = (sql: string) => (exact.has(filter.field) ? sql : `lower(${sql})`);
      return `(${column} is not null and ${matches(filter.match, fold(column), fold(`${bind(filter.value)}::text`))})`;
    }
  }
}

// The value is never a pattern, so it needs no escapes.
function matches(match: Match, text: string, value: string): string {
  switch (match) {
    case 'equals':
      return `${text} = ${value}`;
    case 'contains':
      return `strpos(${text}, ${value}) > 0`;
    case 'startsWith':
      return `starts_with(${text}, ${value})`;
    case 'endsWith':
      return `right(${text}, length(${value})) = ${value}`;
  }
}
