import type { ResourceFilter, TimeOperator } from '../../../domain/identity/provisioning/resource-filter.ts';
import { type IdKind, parseId } from '../../../domain/ids.ts';
import { booleanOf } from './attributes.ts';
import type { Comparison, Filter, Operator } from './filter.ts';
import { invalidFilter } from './filter-tokens.ts';

/** An attribute as a field of a resource, or as a value that is the same for all. `inactive`: the field has a value if it is false. */
export type FilterAttribute<Field extends string> =
  | { readonly type: 'text' | 'time' | 'inactive'; readonly field: Field }
  | { readonly type: 'id'; readonly field: Field; readonly kind: IdKind }
  | { readonly type: 'members' }
  | { readonly type: 'constant'; readonly value: string | boolean };

/** The attributes by which resources can be filtered, by their lower-case names. */
export interface FilterAttributes<Field extends string> {
  /** The resources as messages name them. */
  readonly noun: 'Users' | 'Groups' | 'Members';
  readonly attributes: ReadonlyMap<string, FilterAttribute<Field>>;
  /** Attributes that other resources alone have: in a search in all resources, they have no value here. */
  readonly foreign?: ReadonlySet<string>;
}

/** The attributes that all resources have. */
export const commonAttributes = (schema: string, resourceType: string) =>
  [
    ['meta.created', { type: 'time', field: 'createdAt' }],
    ['meta.resourcetype', { type: 'constant', value: resourceType }],
    ['schemas', { type: 'constant', value: schema }],
  ] as const;

const memberAttributes: FilterAttributes<'memberId'> = {
  noun: 'Members',
  attributes: new Map([
    ['members.value', { type: 'id', field: 'memberId', kind: 'user' }],
    ['members.type', { type: 'constant', value: 'User' }],
  ]),
};

/** Converts a filter to a condition of the domain. Throws invalidFilter for attributes and operators that do not fit. */
export function toCondition<Field extends string>(
  filter: Filter,
  known: FilterAttributes<Field>,
): ResourceFilter<Field> {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, parts: filter.parts.map((part) => toCondition(part, known)) };
    case 'not':
      return { kind: 'not', part: toCondition(filter.part, known) };
    case 'element':
      if (known.attributes.get(filter.path)?.type !== 'members') return toCondition(filter.part, known);
      return { kind: 'element', part: toCondition(filter.part, memberAttributes) };
    case 'comparison':
      return compare(filter, known);
  }
}

function compare<Field extends string>(comparison: Comparison, known: FilterAttributes<Field>): ResourceFilter<Field> {
  const { path, operator, value } = comparison;
  const attribute = known.attributes.get(path);
  if (attribute === undefined) {
    if (known.foreign?.has(path)) return { kind: 'constant', value: false };
    throw invalidFilter(`${known.noun} cannot be filtered by ${shown(path)}.`);
  }
  if (operator === 'ne') {
    return { kind: 'not', part: compare({ ...comparison, operator: 'eq' }, known) };
  }
  const unfit = () =>
    invalidFilter(`${known.noun} cannot be filtered by ${shown(path)} with "${operator}" and this value.`);
  switch (attribute.type) {
    case 'text': {
      if (operator === 'pr') return { kind: 'present', field: attribute.field };
      const match = matchOf(operator);
      if (match === null || typeof value !== 'string') throw unfit();
      return { kind: 'text', field: attribute.field, match, value };
    }
    case 'inactive': {
      if (operator === 'pr') return { kind: 'constant', value: true };
      if (operator !== 'eq') throw unfit();
      const absent = { kind: 'present', field: attribute.field } as const;
      return booleanOf(new Map([[path, value]]), path) ? { kind: 'not', part: absent } : absent;
    }
    case 'time': {
      if (operator === 'pr') return { kind: 'constant', value: true };
      const time = typeof value === 'string' ? readTime(value) : null;
      const compared = timeOperators[operator];
      if (time === null || compared === undefined) throw unfit();
      return { kind: 'time', field: attribute.field, operator: compared, value: time };
    }
    case 'id':
      if (operator === 'pr') return { kind: 'constant', value: true };
      if (operator !== 'eq' || typeof value !== 'string') throw unfit();
      return idCondition(attribute.field, attribute.kind, value);
    case 'members':
      if (operator === 'pr') return { kind: 'element', part: { kind: 'constant', value: true } };
      if (operator !== 'eq' || typeof value !== 'string') throw unfit();
      return { kind: 'element', part: idCondition('memberId', 'user', value) };
    case 'constant': {
      if (operator === 'pr') return { kind: 'constant', value: true };
      const match = matchOf(operator);
      if (match === null || typeof value !== typeof attribute.value) throw unfit();
      return { kind: 'constant', value: matchesConstant(attribute.value, match, value) };
    }
  }
}

const shown = (path: string) => JSON.stringify(path.slice(0, 60));

function idCondition<Field extends string>(field: Field, kind: IdKind, value: string): ResourceFilter<Field> {
  const id = parseId(kind, value);
  return id === null ? { kind: 'constant', value: false } : { kind: 'id', field, value: id };
}

const matches = { eq: 'equals', co: 'contains', sw: 'startsWith', ew: 'endsWith' } as const;

const matchOf = (operator: Operator) => (operator in matches ? matches[operator as keyof typeof matches] : null);

function matchesConstant(own: string | boolean, match: (typeof matches)['eq' | 'co' | 'sw' | 'ew'], value: unknown) {
  if (typeof own !== 'string' || typeof value !== 'string') return match === 'equals' && own === value;
  const [text, part] = [own.toLowerCase(), value.toLowerCase()];
  if (match === 'equals') return text === part;
  if (match === 'contains') return text.includes(part);
  return match === 'startsWith' ? text.startsWith(part) : text.endsWith(part);
}

const timeOperators: Partial<Record<Operator, TimeOperator>> = { eq: '=', gt: '>', ge: '>=', lt: '<', le: '<=' };

/** Reads a time of RFC 7643, 2.3.5; null: it is none. */
function readTime(text: string): Date | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i.test(text)) return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? null : time;
}
