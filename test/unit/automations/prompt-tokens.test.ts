// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so prompts name secrets
import { describe, expect, it } from 'vitest';
import { readPromptTokens } from '../../../src/domain/automations/actions/prompt-tokens.ts';
import { minCpuTime } from '../../support/cpu-time.ts';

const none = { playbooks: [], macros: [], secrets: [], repos: [] };

describe('the names in a prompt', () => {
  it.each([
    ['@playbook:Release', { playbooks: ['Release'] }],
    ['(@playbook:Release.)', { playbooks: ['Release'] }],
    ['@playbook:"Release notes, 2nd" and @playbook:Übergabe', { playbooks: ['Release notes, 2nd', 'Übergabe'] }],
    ['@playbook:a @playbook:a', { playbooks: ['a'] }],
    ['!one, then !Two-b! And !one.', { macros: ['!one', '!two-b'] }],
    ['${A} ${A_1} ${deploy-key} ${a.b}', { secrets: ['A', 'A_1', 'deploy-key', 'a.b'] }],
    ['@acme/site, @acme/api.js. (@a-b/c_d)', { repos: ['acme/site', 'acme/api.js', 'a-b/c_d'] }],
  ])('%s: found', (prompt, named) => {
    expect(readPromptTokens(prompt)).toEqual({ ...none, ...named });
  });

  it.each([
    '\\@playbook:Release \\!macro \\${NAME} \\@acme/site',
    '$${NAME} ${} ${1} ${a b} ${NAME:-x} $NAME',
    'ann@playbook:x ann@example.com/x a!b wow! !! !/bin/sh',
    '@playbook: @playbook:"" @skills:review @ann @acme/ @/site',
    '@playbook:"not\nclosed"',
  ])('%j: none', (prompt) => {
    expect(readPromptTokens(prompt)).toEqual(none);
  });

  it('are found fast in the longest and worst prompts', async () => {
    const maxLength = 500_000;
    for (const part of ['@', '@a', '@playbook:"', '@playbook:a.', '${', '${a', '!', '!a', '@a/', '\\@', 'a-', '@a.-']) {
      const prompt = part.repeat(maxLength / part.length);
      const time = await minCpuTime(() => readPromptTokens(prompt));
      expect([part, time < 2_000]).toEqual([part, true]);
    }
  });
});
