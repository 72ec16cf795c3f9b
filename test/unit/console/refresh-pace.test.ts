import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { paceMs, RefreshPace } from '../../../web/src/changes/refresh-pace.ts';

describe('the pace of comparisons in an open turn', () => {
  let isVisible: boolean;
  let runs: number;
  let pace: RefreshPace;
  beforeEach(() => {
    vi.useFakeTimers();
    [isVisible, runs] = [true, 0];
    pace = new RefreshPace(
      () => {
        runs += 1;
      },
      () => isVisible,
    );
  });
  afterEach(() => {
    pace.stop();
    vi.useRealTimers();
  });

  it('is one comparison at once, and one for all that is wanted later', () => {
    pace.want();
    vi.advanceTimersByTime(0);
    expect(runs).toBe(1);
    pace.want();
    pace.want();
    vi.advanceTimersByTime(paceMs - 1);
    expect(runs).toBe(1);
    vi.advanceTimersByTime(1);
    expect(runs).toBe(2);
    vi.advanceTimersByTime(10 * paceMs);
    expect(runs).toBe(2);
  });

  it('waits after the comparison of another page, which the service counts too', () => {
    pace.want();
    pace.note();
    vi.advanceTimersByTime(paceMs - 1);
    expect(runs).toBe(0);
    vi.advanceTimersByTime(1);
    expect(runs).toBe(1);
  });

  it('compares nothing while it is hidden, but once it is visible', () => {
    isVisible = false;
    pace.want();
    vi.advanceTimersByTime(paceMs);
    pace.look();
    vi.advanceTimersByTime(paceMs);
    expect(runs).toBe(0);
    isVisible = true;
    pace.look();
    vi.advanceTimersByTime(0);
    expect(runs).toBe(1);
    pace.look();
    vi.advanceTimersByTime(paceMs);
    expect(runs).toBe(1);
  });

  it('compares nothing after the turn', () => {
    pace.note();
    pace.want();
    pace.stop();
    vi.advanceTimersByTime(paceMs);
    expect(runs).toBe(0);
  });
});
