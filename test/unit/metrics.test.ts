import { expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { limitValues } from '../../src/metrics/limit-values.ts';

it('gives only the first values of a label series of their own', () => {
  const label = limitValues(2);
  expect(['a', 'b', 'c', 'a', 'd', 'b'].map(label)).toEqual(['a', 'b', 'other', 'a', 'other', 'b']);
});

it('reads the address of the metrics', () => {
  const read = (value: string) => readConfig({ METRICS_ADDRESS: value }).metricsAddress;
  expect(read('127.0.0.1:9464')).toEqual({ host: '127.0.0.1', port: 9_464 });
  expect(read('[::1]:0')).toEqual({ host: '::1', port: 0 });
  expect(read('metrics.internal:80')).toEqual({ host: 'metrics.internal', port: 80 });
  expect(readConfig({}).metricsAddress).toBeNull();
  for (const wrong of ['9464', ':9464', '127.0.0.1', '127.0.0.1:70000', '::1:9464', 'http://a:1', 'a b:1']) {
    expect(() => read(wrong), wrong).toThrow(ConfigError);
  }
});
