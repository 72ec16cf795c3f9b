import { expect, it } from 'vitest';
import { macroSchema } from '../../../src/domain/library/macros.ts';
import { branchTemplateSchema } from '../../../src/domain/repositories/branch-name.ts';
import { checkBranchTemplate, checkJson, checkMacro } from '../../../web/src/manage/kit/checks.ts';

it.each(['!fix', '!a_B-9', 'fix', '! fix', '!fix it', '!', '!ü', `!${'a'.repeat(99)}`, `!${'a'.repeat(100)}`])(
  'takes the macros that the service takes: %s',
  (macro) => {
    expect(checkMacro(macro) === null).toBe(macroSchema.safeParse(macro).success);
  },
);

it.each(['{short id}', 'bot/{slug}-{short id}', 'bot/{slug}', 'a {short id}', '{name}-{short id}', '{short id}}'])(
  'takes the branch templates that the service takes: %s',
  (template) => {
    expect(checkBranchTemplate(template) === null).toBe(branchTemplateSchema.safeParse(template).success);
  },
);

it('takes an empty field', () => {
  expect([checkMacro(' '), checkBranchTemplate(''), checkJson('')]).toEqual([null, null, null]);
});

it('says why a text is not JSON', () => {
  expect(checkJson('{"type": "object"}')).toBeNull();
  expect(checkJson('{"type": ')).toContain('This is not valid JSON');
});
