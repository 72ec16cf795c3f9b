import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TerminalScreen } from '../../../web/src/session/terminal-screen.ts';
import { styleOf } from '../../../web/src/session/terminal-style.ts';
import { minCpuTime } from '../../support/cpu-time.ts';

const screenOf = (...chunks: readonly string[]) => {
  const screen = new TerminalScreen();
  for (const chunk of chunks) screen.write(chunk);
  return screen;
};
const shown = (...chunks: readonly string[]) =>
  screenOf(...chunks)
    .lines()
    .map(({ runs }) => runs.map(({ text }) => text).join(''));
const stylesOf = (text: string) =>
  screenOf(text)
    .lines()
    .flatMap(({ runs }) => runs.map((run) => [run.text, styleOf(run.style)] as const));

const pieces = fc.constantFrom(
  ...[
    'a',
    'word',
    '\n',
    '\r',
    '\b',
    '\t',
    '\u001b[31m',
    '\u001b[0m',
    '\u001b[2K',
    '\u001b[3A',
    '\u001b[J',
    '\u001b[999999C',
  ],
  ...[
    '\u001b[2J',
    '\u001b[H',
    '\u001b]8;;https://evil.example\u001b\\',
    '\u001b]0;title\u0007',
    '\u001b[?25l',
    '\u001b',
    '\u001b[',
  ],
  ...[
    '\u001bP+q\u001b\\',
    '\u0000',
    '\u009b',
    '<img src=x>',
    '\u001b[38;5;196m',
    '\u001b[99999B',
    '\u001b[5P',
    '\u001b7',
    '\u001b8',
    '漢😀',
  ],
);

describe('the screen of a terminal', () => {
  it.each([
    ['a carriage return', '10%\r50%\r100%\ndone', ['100%', 'done']],
    ['a line that is erased', 'loading …\r\u001b[2Kready', ['ready']],
    ['several lines of progress', 'a 0%\nb 0%\n\u001b[2A\u001b[2Ka 100%\n\u001b[2Kb 100%\n', ['a 100%', 'b 100%', '']],
    ['lines of a terminal', 'a\r\nb\r\n', ['a', 'b', '']],
    ['a backspace', 'ab\bc', ['ac']],
    ['a tabulator', 'a\tb', ['a       b']],
    ['a cleared screen', 'old\n\u001b[2J\u001b[Hnew', ['old', 'new']],
    [
      'the title of a window and a hyperlink',
      '\u001b]0;title\u0007\u001b]8;;https://x.example\u001b\\text\u001b]8;;\u0007',
      ['text'],
    ],
    ['private modes', '\u001b[?25l\u001b[?1049hx\u001b[?25h', ['x']],
    ['a cursor far away', '\u001b[9999;9999Hx', [...Array(200).fill(''), `${' '.repeat(300)}x`]],
  ])('applies %s', (_name, text, lines) => {
    expect(shown(text)).toEqual(lines);
  });

  it('shows the same, however its output is divided', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (all, size) => {
        const text = all.join('');
        const characters = [...text];
        const chunks = characters
          .map((_each, n) => characters.slice(n * size, (n + 1) * size).join(''))
          .filter(Boolean);
        const lines = shown(...chunks);
        expect(lines).toEqual(shown(text));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left.
        expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
      { numRuns: 500 },
    );
  });

  it('replaces only the lines that change', () => {
    const screen = screenOf('one\ntwo\n');
    const before = screen.lines();
    screen.write('\u001b[1A2');
    const now = screen.lines();
    expect(now[0]).toBe(before[0]);
    expect(now[1]).not.toBe(before[1]);
  });

  it('keeps a limited part of output without end', async () => {
    const write = () => {
      const screen = screenOf(
        'a line of output\n'.repeat(60_000),
        'x'.repeat(1_000_000),
        '\u001b[300C.\n'.repeat(20_000),
        `\u001b]${'y'.repeat(10_000)}`,
        'z\u001b[1P'.repeat(20_000),
      );
      expect(screen.lines().length).toBeLessThanOrEqual(5_000);
      expect(screen.isCut).toBe(true);
    };
    expect(await minCpuTime(write)).toBeLessThan(5_000);
  });
});

describe('the style of characters', () => {
  it('has classes for the colours of a theme, and values for others', () => {
    expect(
      stylesOf('\u001b[1;31mFAIL\u001b[0m ok \u001b[38;5;196mx\u001b[39m\u001b[48;2;1;2;3my\u001b[m\u001b[7mz'),
    ).toEqual([
      ['FAIL', { className: 'fg-red bold', style: {} }],
      [' ok ', { className: '', style: {} }],
      ['x', { className: '', style: { color: 'rgb(255, 0, 0)' } }],
      ['y', { className: '', style: { backgroundColor: 'rgb(1, 2, 3)' } }],
      ['z', { className: 'fg-black bg-white', style: {} }],
    ]);
  });

  it('ignores what it does not know', () => {
    const [[text, style] = []] = stylesOf(`\u001b[8;5;58;2;${'9;'.repeat(40)}m\u001b[38;5;9999mx`);
    expect(text).toBe('x');
    expect(style?.className).toBe('');
    expect(JSON.stringify(style)).not.toContain('undefined');
  });
});
