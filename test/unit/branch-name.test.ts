import { describe, expect, it } from 'vitest';
import { branchName, branchTemplateSchema, defaultBranchTemplate } from '../../src/domain/repositories/branch-name.ts';

const id = '0199aaaa0000700080000000deadbeef';

describe('branchName', () => {
  it.each([
    ['Fix the login page', 'switchyard/fix-the-login-page-deadbeef'],
    ['  Ünïcode & “quotes” ', 'switchyard/unicode-quotes-deadbeef'],
    ['../../etc/passwd\n--upload-pack=x', 'switchyard/etc-passwd-upload-pack-x-deadbeef'],
    ['修正', 'switchyard/session-deadbeef'],
    ['', 'switchyard/session-deadbeef'],
    [`${'a'.repeat(39)} b`, `switchyard/${'a'.repeat(39)}-deadbeef`],
    ['x'.repeat(10_000), `switchyard/${'x'.repeat(40)}-deadbeef`],
  ])('makes a valid name of the title %j', (title, expected) => {
    expect(branchName(defaultBranchTemplate, { id, title })).toBe(expected);
  });
});

describe('branchTemplateSchema', () => {
  it.each([defaultBranchTemplate, '{short id}', 'bots/{slug}/{short id}', 'a.{short id}'])('accepts %s', (template) => {
    expect(branchTemplateSchema.safeParse(template).success).toBe(true);
  });

  it.each([
    'switchyard/{slug}',
    '{short id}/{user}',
    'refs/heads/{short id}',
    '-{short id}',
    '{short id}.lock',
    'a..{short id}',
    'a b/{short id}',
    '{short id}/',
    `${'a'.repeat(195)}{short id}`,
    '',
  ])('refuses %j', (template) => {
    expect(branchTemplateSchema.safeParse(template).success).toBe(false);
  });
});
