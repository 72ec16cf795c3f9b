import { expect, it } from 'vitest';
import { validityText } from '../../../web/src/ui/use-validity.ts';

it.each([
  [{ validity: { valueMissing: true }, type: 'text' }, 'Title is required.'],
  [{ validity: { valueMissing: true }, type: 'checkbox' }, 'Select this to continue.'],
  [{ validity: { rangeUnderflow: true }, type: 'number', min: '0' }, 'Enter 0 or more.'],
  [{ validity: { rangeOverflow: true }, type: 'number', max: 100 }, 'Enter 100 or less.'],
  [{ validity: { stepMismatch: true }, type: 'number' }, 'Enter a whole number.'],
  [{ validity: { badInput: true }, type: 'number' }, 'Enter a number.'],
  [{ validity: { badInput: true }, type: 'date' }, 'Enter a complete date.'],
  [{ validity: { tooShort: true }, type: 'text', minLength: 1 }, 'Enter at least 1 character.'],
  [{ validity: { typeMismatch: true }, type: 'url' }, 'Enter a URL, such as https://example.com.'],
  [{ validity: { typeMismatch: true }, type: 'email' }, 'Enter an email address, such as name@example.com.'],
  [{ validity: { customError: true }, type: 'text', validationMessage: 'Not so.' }, 'Not so.'],
  [{ validity: { patternMismatch: true }, type: 'text', title: 'Use letters.' }, 'Use letters.'],
  [{ validity: { patternMismatch: true }, type: 'text' }, 'This format isn’t valid.'],
])('says what is wrong with a value: %j', (control, text) => {
  expect(validityText(control, 'Title')).toBe(text);
});
