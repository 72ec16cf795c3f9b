import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createQuotaMonitor, maxRetryMs } from '../../../src/agents/quota/quota-monitor.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function monitorOfTurn() {
  const monitor = createQuotaMonitor();
  monitor.begin();
  const seen = { isOverdue: false };
  void monitor.overdue().then(() => {
    seen.isOverdue = true;
  });
  const refuse = (resetMs: number | null) => {
    const end = monitor.started();
    monitor.refused({ resetMs });
    end();
  };
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
  return { monitor, seen, refuse, pass };
}

it('stops an agent soon if the reset is far away', async () => {
  const { monitor, seen, refuse, pass } = monitorOfTurn();
  refuse(20_000);
  await pass(999);
  expect(seen.isOverdue).toBe(false);
  await pass(1);
  expect(seen.isOverdue).toBe(true);
  expect(monitor.last()).toEqual({ resetMs: 19_000 });
});

it('leaves an agent alone until a near reset, and for a minute in all', async () => {
  const { seen, refuse, pass } = monitorOfTurn();
  for (let ms = 0; ms < maxRetryMs; ms += 5_000) {
    refuse(5_000);
    await pass(4_999);
    expect(seen.isOverdue).toBe(false);
    await pass(1);
  }
  expect(seen.isOverdue).toBe(true);
});

it('leaves an agent alone for a minute if the reset is unknown', async () => {
  const { monitor, seen, refuse, pass } = monitorOfTurn();
  refuse(null);
  await pass(maxRetryMs - 1);
  expect(seen.isOverdue).toBe(false);
  await pass(1);
  expect(seen.isOverdue).toBe(true);
  expect(monitor.last()).toEqual({ resetMs: null });
});

it('does not stop an agent whose other calls go on', async () => {
  const { monitor, seen, refuse, pass } = monitorOfTurn();
  const end = monitor.started();
  refuse(20_000);
  await pass(30_000);
  expect(seen.isOverdue).toBe(false);
  monitor.accepted();
  end();
  await pass(100_000);
  expect(seen.isOverdue).toBe(false);
  expect(monitor.isRefused()).toBe(false);
  // It may still end with an error because of the first call.
  expect(monitor.last()).toEqual({ resetMs: 1 });
});

it('forgets the refusals of an earlier turn', async () => {
  const { monitor, seen, refuse, pass } = monitorOfTurn();
  refuse(20_000);
  monitor.begin();
  await pass(100_000);
  expect(seen.isOverdue).toBe(false);
  expect(monitor.last()).toBeNull();
});
