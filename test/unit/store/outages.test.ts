import { expect, it, onTestFinished, vi } from 'vitest';
import { createOutageLog } from '../../../src/store/outages.ts';
import { StoreUnavailableError } from '../../../src/store/unavailable.ts';

it('reports the end of an outage only when a server that refused writes accepts them again', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  let isStandby = true;
  const write = (_fields: object, message: string) => void lines.push(message);
  const outages = createOutageLog({
    subject: 'The database',
    async probe(isWrite) {
      if (isWrite && isStandby) throw new Error('cannot execute INSERT in a read-only transaction');
    },
    log: { warn: write, error: write },
  });
  onTestFinished(() => outages.stop());
  const cause = Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' });
  outages.failed(new StoreUnavailableError('database', { cause }));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(lines).toEqual(['The database is unavailable.']);
  isStandby = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines).toEqual(['The database is unavailable.', 'The database is available again.']);
});
