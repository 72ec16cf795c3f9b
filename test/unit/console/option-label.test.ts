import { expect, it } from 'vitest';
import { optionLabel } from '../../../web/src/session/option-label.ts';

it('names a value of an agent’s option with any text', () => {
  expect(optionLabel('a', [{ value: 'a', name: 'A' }])).toBe('A');
  expect(optionLabel('true', [])).toBe('On');
  for (const value of ['constructor', '__proto__', 'toString', '']) expect(optionLabel(value, [])).toBe(value);
});
