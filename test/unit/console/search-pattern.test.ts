import { expect, it } from 'vitest';
import { searchPattern } from '../../../web/src/session/use-search-highlights.ts';

const find = (text: string, ...parts: string[]) => text.match(searchPattern(parts) as RegExp) ?? [];

it('finds parts where a word begins, in any case', () => {
  expect(searchPattern(['', ''])).toBeNull();
  expect(find('Flow, overflow and FLOWS', 'flow')).toEqual(['Flow', 'FLOW']);
  expect(find('a follow-up of the follow up', 'follow-up')).toEqual(['follow-up']);
});

it('takes parts with every ASCII character as they are', () => {
  const characters = Array.from({ length: 95 }, (_, n) => String.fromCharCode(32 + n));
  for (const each of characters) {
    const part = `x${each}y`;
    expect(find(`(${part})`, part), each).toEqual([part]);
    expect(() => searchPattern([each]), each).not.toThrow();
  }
});
