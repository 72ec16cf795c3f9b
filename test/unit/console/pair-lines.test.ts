import { expect, it } from 'vitest';
import { toHunkData } from '../../../web/src/changes/diff-lines.ts';
import { sideBySide, similarLines } from '../../../web/src/changes/pair-lines.ts';

const changes = (lines: readonly string[]) =>
  toHunkData([{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, heading: '', lines }])[0]?.changes ?? [];
const signs = { normal: ' ', delete: '-', insert: '+' } as const;
const brief = (found: ReturnType<typeof changes>) => found.map(({ type, content }) => signs[type] + content);
const columns = (...lines: string[]) => brief(sideBySide(changes(lines)));
const similar = (...lines: string[]) => brief(similarLines(changes(lines)));

it('puts the lines of a block opposite from its start', () => {
  expect(columns(' a', '-one', '-two', '-three', '+4', ' b')).toEqual([' a', '-one', '+4', '-two', '-three', ' b']);
  expect(columns('-one', '+4', '+5', '+6')).toEqual(['-one', '+4', '+5', '+6']);
  expect(columns('-one', ' a', '+4')).toEqual(['-one', ' a', '+4']);
});

it('puts similar lines opposite', () => {
  const block = ['-# Acme site', '-', '-Run it:', '-npm start', '+# Acme website', '+Start it with npm start.'];
  expect(columns(...block)).toEqual([
    ...['-# Acme site', '+# Acme website'],
    ...['-', '-Run it:'],
    ...['-npm start', '+Start it with npm start.'],
  ]);
  const moved = ['-  const port = 80;', '+  // The port.', '+  const port = 8080;'];
  expect(columns(...moved)).toEqual(['+  // The port.', '-  const port = 80;', '+  const port = 8080;']);
  // The order of both versions stays.
  expect(columns('-first line', '-second line!', '+second line!', '+first line')).toEqual([
    '-first line',
    '-second line!',
    '+second line!',
    '+first line',
  ]);
});

it('returns the similar lines, in which changed words are marked', () => {
  expect(similar('-npm start', '-const port = 80;', '+# Acme', '+const port = 8080;')).toEqual([
    '-const port = 80;',
    '+const port = 8080;',
  ]);
  expect(similar('-one', '+2', ' a', '+b')).toEqual([]);
});

it('pairs the lines of a large block from its start', () => {
  const many = Array.from({ length: 400 }, (_, index) => `line ${index}`);
  const rows = columns(...many.map((line) => `-${line}`), ...many.map((line) => `+new ${line}`));
  expect(rows.slice(0, 4)).toEqual(['-line 0', '+new line 0', '-line 1', '+new line 1']);
  expect(rows).toHaveLength(800);
});
