import { expect, it } from 'vitest';
import { macrosIn } from '../../../src/domain/library/expand-macros.ts';

it('finds macros outside of fenced code', () => {
  const fence = '```';
  expect(macrosIn([`Do !deploy.\n\n${fence}ts\nif (!ready) !stop\n${fence}\n\nThen !Check`])).toEqual([
    '!deploy',
    '!check',
  ]);
  expect(macrosIn([`${fence}\`\n${fence}\n!inside\n${fence}\`\n!after`])).toEqual(['!after']);
  expect(macrosIn(['~~~\n!inside\n~~~\n!after'])).toEqual(['!after']);
});

it('finds macros in a block that is not closed, and in code within a line', () => {
  expect(macrosIn(['```\n!deploy'])).toEqual(['!deploy']);
  expect(macrosIn(['```!deploy``` and `!check`'])).toEqual(['!deploy', '!check']);
});
