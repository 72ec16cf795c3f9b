import Anser from 'anser';

/** The style of characters, for React. */
export interface TerminalStyle {
  readonly className: string;
  readonly style: { readonly color?: string; readonly backgroundColor?: string };
}

/** Returns the aspect that a parameter of an SGR sequence sets. Others are ignored, for example blinking and hidden text. */
function aspectOf(code: number): string | null {
  if ((code >= 30 && code <= 39) || (code >= 90 && code <= 97)) return 'foreground';
  if ((code >= 40 && code <= 49) || (code >= 100 && code <= 107)) return 'background';
  if (code === 1 || code === 2 || code === 22) return 'weight';
  if (code === 3 || code === 23) return 'italic';
  if (code === 4 || code === 21 || code === 24) return 'underline';
  if (code === 7 || code === 27) return 'reverse';
  return code === 9 || code === 29 ? 'strikethrough' : null;
}

/** The parameters that return an aspect to its default. */
const resets: ReadonlySet<number> = new Set([22, 23, 24, 27, 29, 39, 49]);

/** Applies the parameters of an SGR sequence (`1;31`) to the aspects that were set before it. */
export function takeSgr(before: ReadonlyMap<string, string>, parameters: string): ReadonlyMap<string, string> {
  if (!/^[\d;:]{0,60}$/.test(parameters)) return before;
  const codes = parameters.split(/[;:]/).map(Number);
  let aspects = new Map(before);
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    const aspect = aspectOf(code);
    if (code === 0) aspects = new Map();
    else if (resets.has(code) && aspect !== null) aspects.delete(aspect);
    else if (aspect !== null) {
      const length = code !== 38 && code !== 48 ? 1 : codes[at + 1] === 5 ? 3 : 5;
      aspects.set(aspect, codes.slice(at, at + length).join(';'));
      at += length - 1;
    }
  }
  return aspects;
}

/** Writes aspects as one escape sequence; empty for none. */
export function sgrText(aspects: ReadonlyMap<string, string>): string {
  return aspects.size === 0 ? '' : `\u001b[${[...aspects.values()].join(';')}m`;
}

const known = new Map<string, TerminalStyle>();
/** Output may use any number of colours. */
const maxKnown = 1_000;

/** Converts the sequence of {@link sgrText} to classes and, for colours without a class, to colours. */
export function styleOf(sequence: string): TerminalStyle {
  const found = known.get(sequence);
  if (found !== undefined) return found;
  if (known.size >= maxKnown) known.clear();
  const style = read(sequence);
  known.set(sequence, style);
  return style;
}

const plain: TerminalStyle = { className: '', style: {} };

function read(sequence: string): TerminalStyle {
  if (sequence === '') return plain;
  const [byClass] = Anser.ansiToJson(`${sequence}x`, { json: true, 'use_classes': true, 'remove_empty': true });
  const [byValue] = Anser.ansiToJson(`${sequence}x`, { json: true, 'remove_empty': true });
  if (byClass === undefined || byValue === undefined) return plain;
  // Reversed colours are exchanged already.
  const [color, backgroundColor] = [colorOf(byClass.fg, byValue.fg), colorOf(byClass.bg, byValue.bg)];
  const classes = [
    named('fg', byClass.fg),
    named('bg', byClass.bg),
    ...byClass.decorations.filter((each) => shownDecorations.has(each)),
  ];
  return {
    className: classes.filter((each) => each !== '').join(' '),
    style: { ...(color && { color }), ...(backgroundColor && { backgroundColor }) },
  };
}

const shownDecorations: ReadonlySet<string> = new Set(['bold', 'dim', 'italic', 'underline', 'strikethrough']);
const basicColor = /^ansi-((?:bright-)?(?:black|red|green|yellow|blue|magenta|cyan|white))$/;

function named(prefix: 'fg' | 'bg', className: string | null): string {
  const name = basicColor.exec(className ?? '')?.[1];
  return name === undefined ? '' : `${prefix}-${name}`;
}

function colorOf(className: string | null, value: string | null): string | null {
  if (className === null || basicColor.test(className)) return null;
  return value !== null && /^\d{1,3}, ?\d{1,3}, ?\d{1,3}$/.test(value) ? `rgb(${value})` : null;
}
