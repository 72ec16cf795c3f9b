import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, NoDeprecatedCustomRule, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { acceptedBreaks } from '../support/accepted-breaks.ts';
import { badDeprecations, breakingChanges, danglingDeprecations } from '../support/schema-changes.ts';
import { root, treeFiles } from '../support/tree.ts';

const read = (name: string) => readFileSync(join(root, name), 'utf8');
const today = new Date().toISOString().slice(0, 10);

// The commitment to clients of a release: docs/graphql.md, Schema changes and deprecation.
it('breaks nothing of the released schema except accepted changes', async () => {
  const breaks = await breakingChanges(read('schema.released.graphql'), read('schema.graphql'), today);
  expect(breaks.filter((change) => !acceptedBreaks.some(({ message }) => message.test(change)))).toEqual([]);
  const idle = acceptedBreaks.filter(({ message }) => !breaks.some((change) => message.test(change)));
  expect(idle, 'accepted, but nothing breaks so').toEqual([]);
});

it('states for every deprecation what to use instead, and until when it exists', () => {
  expect(badDeprecations(read('schema.graphql'))).toEqual([]);
});

it('names replacements that exist in the schema', () => {
  expect(read('schema.graphql')).toContain('@deprecated(reason: "Use UsageEvent.tokens. Removed after 2027-06-30.")');
  expect(danglingDeprecations(read('schema.graphql'))).toEqual([]);
});

// Relay's templates contain its own directives, which this rule ignores.
it('uses no deprecated members in the console, and shows none in the documentation', () => {
  const schema = buildSchema(read('schema.graphql'));
  const files = treeFiles().filter((path) => /^(?:web\/src\/.*\.tsx?|docs\/.*\.md|README\.md)$/.test(path));
  const documents = files.flatMap((path) => {
    const text = path.endsWith('.md') ? /^```graphql\n([\s\S]*?)^```/gm : /\bgraphql`\s([^`]*)`/g;
    return [...read(path).matchAll(text)].map(([, document = '']) => [path, document] as const);
  });
  expect(documents.length).toBeGreaterThan(100);
  const found = documents.flatMap(([path, document]) =>
    validate(schema, parse(document), [NoDeprecatedCustomRule]).map(({ message }) => `${path}: ${message}`),
  );
  expect(found).toEqual([]);
});

describe('the check itself', () => {
  const released = `
    type Query {
      kept(a: Int, b: Int @deprecated(reason: "Use a. Removed after 2026-01-31.")): Int
      gone: Int @deprecated(reason: "Use kept. Removed after 2026-01-31.")
      going: Int @deprecated(reason: "Use kept. Removed after 2027-01-31.")
      field(start: Start, word: Word): Int
    }
    input Start { one: Int }
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

  it('accepts announced removals, and additions', async () => {
    expect(await changed('gone: Int @deprecated(reason: "Use kept. Removed after 2026-01-31.")', 'more: Int')).toEqual(
      [],
    );
    expect(await changed(', b: Int @deprecated(reason: "Use a. Removed after 2026-01-31.")', '')).toEqual([]);
    expect(await changed('A B', 'A B C')).toEqual([]);
  });

  it('finds a deprecation without a reason', () => {
    expect(badDeprecations('type Query { a: Int @deprecated b: Int @deprecated(reason: "Use a.") }')).toHaveLength(2);
    expect(badDeprecations(released)).toEqual([]);
    const dangling = 'type Query { a: Int @deprecated(reason: "Use Query.b. Removed after 2027-01-31.") c: Int }';
    expect(danglingDeprecations(dangling)).toHaveLength(1);
    expect(danglingDeprecations(dangling.replace(' c:', ' b:'))).toEqual([]);
  });
});
