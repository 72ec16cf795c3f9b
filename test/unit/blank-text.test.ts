import { expect, it } from 'vitest';
import { text } from '../../src/domain/input.ts';

const name = text('name', { min: 1, max: 100, isBlankRefused: true });

it.each([' ', '\n\t', '\u3164', '\u115f\u1160', '\u200b', '\u00ad', '\u2800', '\ufe0f', '\u{e0020}', ' \u202e\u3164 '])(
  'refuses a text without a visible character: %j',
  (value) => {
    expect(name.safeParse(value).error?.issues[0]?.message).toBe('"name" must not be empty.');
  },
);

it.each(['a', ' a ', '가\u3164', '❤️', '👩‍💻', '०', '⠁', 'می\u200cخواهم'])('accepts %j as it is', (value) => {
  expect(name.safeParse(value)).toEqual({ success: true, data: value });
});
