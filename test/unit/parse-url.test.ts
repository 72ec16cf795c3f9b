import { expect, it } from 'vitest';
import { parseUrl } from '../../src/common/parse-url.ts';
import { readText, treeFiles } from '../support/tree.ts';

it('parses URLs with non-ASCII letters any number of times', () => {
  const text = 'https://b\u00fccher.example/';
  for (let n = 0; n < 100_000; n++) {
    if (parseUrl(text)?.host !== 'xn--bcher-kva.example') expect.fail(`wrong after ${n} calls`);
  }
  expect(parseUrl('not an address')).toBeNull();
});

it('is used instead of URL.canParse', () => {
  const files = treeFiles().filter((path) => /^src\/.*\.ts$/.test(path) && path !== 'src/common/parse-url.ts');
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((path) => readText(path).includes('canParse'))).toEqual([]);
});
