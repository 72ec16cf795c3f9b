import { expect, it } from 'vitest';
import { stateName } from '../../../web/src/session/follow-up-text.ts';

it('says of a follow-up that is not decided what will happen, and promises nothing that the mode does not do', () => {
  const comments = { kind: 'COMMENTS', state: 'PENDING' } as const;
  expect(stateName(comments, 'AUTO')).toBe('still collecting comments, then sent');
  expect(stateName(comments, 'SUGGEST')).toBe('still collecting comments, not sent yet');
  expect(stateName(comments, 'OFF')).toBe('still collecting comments, not sent yet');
  expect(stateName({ ...comments, kind: 'CHECKS' }, 'AUTO')).toBe('about to be sent');
  expect(stateName({ ...comments, kind: 'CHECKS' }, 'SUGGEST')).toBe('not sent yet');
  expect(stateName({ ...comments, state: 'SUGGESTED' }, 'SUGGEST')).toBe('not sent yet');
});
