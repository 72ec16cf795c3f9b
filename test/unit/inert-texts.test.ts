import { expect, it } from 'vitest';
import { inertTexts } from '../../src/domain/open-pull-requests/inert-texts.ts';

it('makes texts harmless', async () => {
  expect(await inertTexts(['@ann', 'fine'], { organizationId: 'a' })).toEqual(['@&#8203;ann', 'fine']);
});

it('makes texts blocks of code if they take too long, also the next ones harmless', async () => {
  // Nested lists: the parser takes more than a second for each 10,000 characters.
  const hostile = '1. '.repeat(6_000).trim();
  const texts = await inertTexts([hostile, '@ann'], { organizationId: 'a', limitMs: 20 });
  expect(texts).toEqual([`\`\`\`text\n${hostile}\n\`\`\``, '```text\n@ann\n```']);
  expect(await inertTexts(['@ann'], { organizationId: 'a' })).toEqual(['@&#8203;ann']);
});
