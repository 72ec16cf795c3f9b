import { expect, it } from 'vitest';
import { emptyNotice, restoredNotice } from '../../../src/domain/execution/restores/restore-notice.ts';

const complete = {
  ...{ id: 'c1', content: { files: null, ignored: {} }, missing: [], takenAt: new Date(0) },
  ...{ files: 2, isMoved: false, damaged: 0 },
} as unknown as Parameters<typeof restoredNotice>[0];
const isWarning = (state: object) => restoredNotice({ ...complete, ...state }, (text) => text).data?.isWarning;

it('warns of files that are missing after a restore', () => {
  expect(isWarning({})).toBe(false);
  expect(isWarning({ isMoved: true })).toBe(false);
  expect(isWarning({ damaged: 1 })).toBe(true);
  expect(isWarning({ missing: [{ path: 'big.iso', reason: 'limit' }] })).toBe(true);
  expect(isWarning({ content: { ...complete.content, ignored: null } })).toBe(true);
  expect(emptyNotice('its saved state is damaged.').data).toMatchObject({ isWarning: true });
});
