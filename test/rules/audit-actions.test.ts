import { expect, test } from 'vitest';
import { earlierAuditActions, laterAuditActions } from '../../src/domain/audit/audit-actions.ts';
import { auditActions } from '../../src/domain/audit/record-audit.ts';
import { readText, treeFiles } from '../support/tree.ts';

const page = 'docs/wire/audit-log.md';

interface Row {
  readonly action: string;
  readonly isEarlier: boolean;
}

/** The rows of the action tables under a heading of the page. */
function rows(heading: string, end: string | null): Row[] {
  const text = readText(page);
  const from = text.indexOf(`\n${heading}\n`);
  if (from === -1) throw new Error(`${page} has no heading "${heading}".`);
  const part = text.slice(from, end === null ? undefined : text.indexOf(`\n${end}\n`));
  return [...part.matchAll(/^\| `(\w+)` \| *(yes)? *\| *\S.*\|$/gm)].map(([, action = '', yes]) => ({
    action,
    isEarlier: yes === 'yes',
  }));
}

const recorded = rows('## Actions', '### Without a source');
const sourceless = rows('### Without a source', null);
const names = (list: readonly Row[]) => list.map(({ action }) => action).toSorted();

test(`${page} states for every recorded action when it is written`, () => {
  expect(names(recorded), `"## Actions" of ${page} has a row for each of auditActions, and for no other.`).toEqual(
    Object.keys(auditActions).toSorted(),
  );
});

test(`${page} states for every other value of the enumerations why it has no source`, () => {
  const others = [...earlierAuditActions, ...laterAuditActions].filter((word) => !Object.hasOwn(auditActions, word));
  expect(names(sourceless), `"### Without a source" of ${page}: add or remove rows.`).toEqual(others.toSorted());
});

test(`${page} marks the actions of versions 1 and 2`, () => {
  const marked = [...recorded, ...sourceless].filter(({ isEarlier }) => isEarlier);
  expect(names(marked), 'Correct the column "v1, v2".').toEqual([...earlierAuditActions].sort());
});

test('every recorded action is written somewhere', () => {
  const writers = treeFiles()
    .filter((path) => /^src\/(?:domain|auth|console)\/.*\.ts$/.test(path) && !/audit(?:-actions)?\.ts$/.test(path))
    .map(readText)
    .join('\n');
  const unwritten = Object.keys(auditActions).filter((action) => !writers.includes(`'${action}'`));
  expect(unwritten, 'Write the entry where the act is, or take the action out of auditActions.').toEqual([]);
});

test('no value is twice in the enumerations', () => {
  const words = [...earlierAuditActions, ...laterAuditActions];
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  expect(earlierAuditActions).toHaveLength(47);
});

test('an entry is written with audit() only, so that none lacks its actor, address or key', () => {
  const found = treeFiles()
    .filter(
      (path) =>
        /^src\/.*\.ts$/.test(path) && !path.startsWith('src/store/') && path !== 'src/domain/audit/record-audit.ts',
    )
    .filter((path) => /insert\s+into\s+audit_entry|auditEntry\.(?:create|update|upsert|delete)/.test(readText(path)));
  expect(found, `Call audit() of src/domain/audit/record-audit.ts:\n${found.join('\n')}`).toEqual([]);
});
