import { describe, expect, it } from 'vitest';
import { columnFormat, roundForFile } from '../../../web/src/ui/number.ts';

describe('the numbers of a column', () => {
  const write = (...values: number[]) => values.map(columnFormat(values));

  it('all have two decimals if one has any', () => {
    expect(write(0.6, 15.5, 12.371, 0)).toEqual(['0.60', '15.50', '12.37', '0.00']);
  });

  it('have none if all are whole', () => {
    expect(write(3, 0, 1_200)).toEqual(['3', '0', '1,200']);
  });

  it('do not become zero', () => {
    expect(write(0.0002, 2)).toEqual(['<0.01', '2.00']);
  });

  it('have at most four decimals in a file', () => {
    expect([13.283753213057475, 1.5, 0, 0.00004].map(roundForFile)).toEqual([13.2838, 1.5, 0, 0]);
  });
});
