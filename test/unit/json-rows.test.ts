import { expect, it } from 'vitest';
import { jsonRow } from '../../src/store/json-rows.ts';
import { type Field, fieldsOf, type Row } from '../../src/store/tables.ts';

it('reads the values of its own array by the names of the fields', () => {
  const row = jsonRow<
    'Organization',
    Pick<Row<'Organization'>, 'id' | 'createdAt' | 'deletedAt'> & { readonly size: number }
  >('Organization')({ fields: ['deletedAt', 'createdAt'], known: ['id'], more: ['size'] });
  const time = "round(date_part('epoch', o.deleted_at) * 1000), round(date_part('epoch', o.created_at) * 1000)";
  expect(row.sql('o', { size: 'count(*)' })).toBe(`json_build_array(${time}, count(*))`);
  const values: object = [null, 5, 3];
  expect(row.read(values, { id: 'x' })).toEqual({ id: 'x', deletedAt: null, createdAt: new Date(5), size: 3 });
});

it('refuses types that JSON would change, and names that are no members', () => {
  const withName = (field: string) =>
    jsonRow<'Session', Row<'Session'>>('Session')({ fields: [field] as unknown as Field<'Session'>[] });
  expect(() => withName('titel')).toThrow('Session has no field "titel".');
  const more = { fields: fieldsOf('Session'), more: ['a: process.exit()'] as unknown as never[] };
  expect(() => jsonRow<'Session', Row<'Session'>>('Session')(more)).toThrow(
    '"a: process.exit()" is not a name of a member.',
  );
});
