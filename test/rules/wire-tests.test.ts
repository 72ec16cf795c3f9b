import { expect, it } from 'vitest';
import { changedTests, matching } from '../../scripts/changed-tests.ts';
import { wireTests } from '../../scripts/wire-tests.ts';
import { root, treeFiles } from '../support/tree.ts';

const files = treeFiles();
const tests = files.filter((path) => path.endsWith('.test.ts'));

it('names in each row of the table folders and tests that exist', () => {
  const strange = Object.entries(wireTests).flatMap(([prefix, names]) => [
    ...(files.some((path) => path.startsWith(prefix)) ? [] : [prefix]),
    ...names.filter((name) => matching(tests, name).length === 0).map((name) => `${prefix}: ${name}`),
  ]);
  expect(strange).toEqual([]);
});

it('selects few tests for a change, those of the rule and those over the wire', () => {
  const selected = changedTests(root, files, ['src/domain/automations/recurrence/cron.ts']);
  expect(selected).toContain('test/rest/v3-schedules.test.ts');
  expect(selected.length).toBeLessThan(10);
  expect(changedTests(root, files, ['src/domain/automations/recurrence/time-zones.ts'])).toContain(
    'test/unit/automations/time-zones.test.ts',
  );
});
