import { describe, expect, it } from 'vitest';
import { readForgeAddress } from '../../src/forges/support/connection.ts';

describe('readForgeAddress', () => {
  it.each([
    ['github.com', 'https://github.com'],
    ['https://Git.Example.com:8443/forge/', 'https://git.example.com:8443/forge'],
    ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
    ['git_server', 'https://git_server'],
    ['bücher.example', 'https://xn--bcher-kva.example'],
  ])('reads %s', (host, baseUrl) => {
    expect(readForgeAddress(host, false).baseUrl).toBe(baseUrl);
  });

  it.each(['*', 'https://*.example.com', "https://x,default-src'", 'https://x;y', 'https://-x.example', 'file:///etc'])(
    'refuses %s',
    (host) => {
      expect(() => readForgeAddress(host, true)).toThrow('The host must be a host name such as "github.com"');
    },
  );
});
