import fc from 'fast-check';
import { expect, it } from 'vitest';
import { newId } from '../../../src/domain/ids.ts';
import { writeCursor } from '../../../src/domain/pages.ts';
import { logCursor } from '../../../src/domain/sessions/list-log.ts';
import { writeTime } from '../../../src/domain/times.ts';
import { runs } from '../../support/property-runs.ts';

it('writes a time like JavaScript', () => {
  const anyTime = fc.oneof(
    fc.date({ noInvalidDate: true }),
    fc.date({ noInvalidDate: true, min: new Date('1969-12-31T23:00:00Z'), max: new Date('1970-01-02') }),
    fc.date({ noInvalidDate: true, min: new Date('9999-12-31T00:00:00Z'), max: new Date('+010000-01-02T00:00:00Z') }),
  );
  fc.assert(
    fc.property(anyTime, (time) => {
      expect(writeTime(time)).toBe(time.toISOString());
    }),
    runs(2_000),
  );
  expect(() => writeTime(new Date(Number.NaN))).toThrow(RangeError);
});

it('writes one cursor for an entry, whatever form its parts had', () => {
  const ids = Array.from({ length: 3 }, newId);
  fc.assert(
    fc.property(fc.constantFrom(...ids), fc.nat(20_000), (sessionId, seq) => {
      expect(logCursor({ sessionId, seq })).toBe(writeCursor('log', sessionId, seq));
    }),
    runs(2_000),
  );
});
