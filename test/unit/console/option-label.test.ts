import { expect, it } from 'vitest';
import { optionLabel, optionTitle } from '../../../web/src/session/option-label.ts';

it('names a value of an agent’s option with any text', () => {
  expect(optionLabel('a', [{ value: 'a', name: 'A' }])).toBe('A');
  expect(optionLabel('true', [])).toBe('On');
  for (const value of ['constructor', '__proto__', 'toString', '']) expect(optionLabel(value, [])).toBe(value);
});

it('writes the names of options in sentence case', () => {
  expect(['Session Mode', 'Model', 'API Key', 'reasoning effort', ''].map(optionTitle)).toEqual([
    ...['Session mode', 'Model', 'API key', 'reasoning effort', ''],
  ]);
});
