import { describe, expect, it } from 'vitest';
import { failureReason } from '../../../web/src/session/failure-reason.ts';

describe('the reason of a failed call', () => {
  it.each([
    ['To https://git.example/a.git\n ! [rejected] main -> main\nhint: fetch first\n', '! [rejected] main -> main'],
    ['\u001b[31mError: no such file\u001b[0m\n    at run (a.js:1)\n', 'Error: no such file'],
    ['1 passed\r\nexit code 2\r\n\r\n', 'exit code 2'],
    [' \n', null],
    ['', null],
  ])('of %j is %j', (output, reason) => {
    expect(failureReason(output)).toBe(reason);
  });
});
