import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptedBreaks } from '../support/accepted-breaks.ts';
import { badDeprecations, breakingChanges } from '../support/schema-changes.ts';
import { root } from '../support/tree.ts';

const read = (name: string) => readFileSync(join(root, name), 'utf8');
const today = new Date().toISOString().slice(0, 10);

// docs/graphql.md, Changes: what this promises to who has written against a release.
it('breaks nothing of the schema that was released, but for what is accepted', async () => {
  const breaks = await breakingChanges(read('schema.released.graphql'), read('schema.graphql'), today);
  expect(breaks.filter((said) => !acceptedBreaks.some(({ message }) => message.test(said)))).toEqual([]);
  const idle = acceptedBreaks.filter(({ message }) => !breaks.some((said) => message.test(said)));
  expect(idle, 'accepted, but nothing breaks so').toEqual([]);
});

it('says of all that is deprecated what to use instead, and until when it is there', () => {
  expect(badDeprecations(read('schema.graphql'))).toEqual([]);
});

describe('the check itself', () => {
  const released = `
    type Query {
      kept(a: Int, b: Int @deprecated(reason: "Use a. Removed after 2026-01-31.")): Int
      gone: Int @deprecated(reason: "Use kept. Removed after 2026-01-31.")
      going: Int @deprecated(reason: "Use kept. Removed after 2027-01-31.")
      asked(given: Given, word: Word): Int
    }
    input Given { one: Int }
    enum Word { A B }
  `;
  const changed = (from: string, to: string) => breakingChanges(released, released.replace(from, to), '2026-02-01');

  it.each<[string, string, string]>([
    ['going: Int @deprecated(reason: "Use kept. Removed after 2027-01-31.")', '', 'a field before its day'],
    ['kept(a: Int,', 'kept(', 'an argument'],
    ['enum Word { A B }', 'enum Word { A }', 'a value'],
    ['{ one: Int }', '{ one: Int two: Int! }', 'an input that must be given'],
    ['Removed after 2026-01-31.")): Int', 'Removed after 2026-01-31.")): String', 'another type'],
  ])('finds %s → %s (%s)', async (from, to) => {
    expect(await changed(from, to)).toHaveLength(1);
  });

  it('lets go what was announced, and what adds', async () => {
    expect(await changed('gone: Int @deprecated(reason: "Use kept. Removed after 2026-01-31.")', 'more: Int')).toEqual(
      [],
    );
    expect(await changed(', b: Int @deprecated(reason: "Use a. Removed after 2026-01-31.")', '')).toEqual([]);
    expect(await changed('A B', 'A B C')).toEqual([]);
  });

  it('finds a deprecation that says nothing', () => {
    expect(badDeprecations('type Query { a: Int @deprecated b: Int @deprecated(reason: "Use a.") }')).toHaveLength(2);
    expect(badDeprecations(released)).toEqual([]);
  });
});
