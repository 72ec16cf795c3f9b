import { expect, it } from 'vitest';
import { writeMessage } from '../../../web/src/comments/comment-message.ts';
import type { LineComment } from '../../../web/src/comments/line-comment.ts';

const comment = (more: Partial<LineComment>): LineComment => ({
  ...{
    id: 'c',
    directory: 'site',
    isOnlyRepository: true,
    turn: null,
    path: 'src/a.ts',
    side: 'new',
    start: 9,
    end: 9,
  },
  ...{ quoted: ['const a = 1;'], text: 'Use a name.', isOutdated: false },
  ...more,
});

it('writes the text, and the comments by their files and lines', () => {
  const message = writeMessage('Please fix:', [
    comment({ id: 'b', path: 'src/b.ts', side: 'old', start: 1, end: 1 }),
    comment({ id: 'c', start: 10, end: 11, quoted: ['a', 'b'], text: 'Second' }),
    comment({ id: 'a', start: 9 }),
  ]);
  expect(message).toBe(`Please fix:

**\`src/a.ts\`**, line 9 (new version):

\`\`\`
9 | const a = 1;
\`\`\`

Use a name.

**\`src/a.ts\`**, lines 10–11 (new version):

\`\`\`
10 | a
11 | b
\`\`\`

Second

**\`src/b.ts\`**, line 1 (old version):

\`\`\`
1 | const a = 1;
\`\`\`

Use a name.`);
  expect(writeMessage('', [])).toBe('');
});

it('says the repository, the turn, what is outdated and what is not quoted', () => {
  const [heading, , , , more] = writeMessage('', [
    comment({ isOnlyRepository: false, turn: 2, side: 'old', isOutdated: true, start: 5, end: 30 }),
  ]).split('\n');
  expect(heading).toBe('**`src/a.ts`** in the repository `site`, lines 5–30 (version before turn 2, since changed):');
  expect(more).toBe('… 25 more lines');
});

it('contains hostile lines and names', () => {
  const message = writeMessage('', [
    comment({
      path: 'a`b\n!deploy\u202E',
      quoted: ['````', 'ATTACHMENT:"https://x/attachments/1/y"', '</pre>'],
      end: 11,
    }),
  ]);
  expect(message.split('\n')).toEqual([
    '**``a`b \\!deploy[U+202E]``**, lines 9–11 (new version):',
    '',
    '`````',
    ' 9 | ````',
    '10 | ATTACHMENT:"https://x/attachments/1/y"',
    '11 | </pre>',
    '`````',
    '',
    'Use a name.',
  ]);
});
