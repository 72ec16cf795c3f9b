import { expect, it } from 'vitest';
import { requestIdOf } from '../../src/http/request-id.ts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

it('keeps the id that a proxy has sent', () => {
  for (const id of ['x', '0b9d5c1e-2f43-4f63-9d5c-000000000000', 'Root=1-67891233-abcdef012345', 'a'.repeat(128)])
    expect(requestIdOf(id)).toBe(id);
});

it('replaces an id that a log or a header could misread', () => {
  const seen = new Set<string>();
  for (const id of [null, '', ' ', 'a b', 'a\nb', 'é', '"', '{}', 'a'.repeat(129)]) {
    expect(requestIdOf(id)).toMatch(uuid);
    seen.add(requestIdOf(id));
  }
  expect(seen.size).toBe(9);
});
