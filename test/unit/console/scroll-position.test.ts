import { expect, it } from 'vitest';
import { isScrolledUp } from '../../../web/src/session/scroll-position.ts';

const before = { scrollTop: 8331, scrollHeight: 8920, clientHeight: 589 };

it('notices that the user has scrolled up', () => {
  expect(isScrolledUp(before, { ...before, scrollTop: 8320 })).toBe(true);
  expect(isScrolledUp(before, { ...before, scrollTop: 8331 })).toBe(false);
  expect(isScrolledUp(before, { ...before, scrollTop: 8340 })).toBe(false);
});

it('does not take the scrolling of the browser for that of the user', () => {
  expect(isScrolledUp(before, { scrollTop: 8231, scrollHeight: 8820, clientHeight: 589 })).toBe(false);
  // The box has grown, and only then the content.
  expect(isScrolledUp(before, { scrollTop: 8297, scrollHeight: 10_497, clientHeight: 623 })).toBe(false);
  expect(isScrolledUp(before, { scrollTop: 8290, scrollHeight: 10_497, clientHeight: 623 })).toBe(true);
});
