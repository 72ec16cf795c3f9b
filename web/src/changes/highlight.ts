import { useEffect, useState } from 'react';
import type { HunkData, HunkTokens } from 'react-diff-view';
import { firstNumbers, type Hunk, toHunkData } from './diff-lines.ts';
import type { Highlighted, HighlightJob } from './highlight-worker.ts';

/** A text for which a grammar needs longer keeps no colours: a hostile text can keep a regular expression busy for hours. */
const maxMs = 3_000;
/** More text is not highlighted, in characters. */
const maxLength = 300_000;

interface Waiting {
  readonly job: HighlightJob;
  readonly done: (tokens: Highlighted['tokens']) => void;
}

/** Highlights files one after another in a worker, which is replaced if it does not answer in time. */
class Highlighter {
  #worker: Worker | null = null;
  readonly #waiting: Waiting[] = [];
  #current: Waiting | null = null;
  #timer = 0;
  #count = 0;

  /** Requests the tokens of a file's hunks. Returns a function that withdraws the request. */
  request(hunks: readonly HunkData[], language: string, done: Waiting['done']): () => void {
    let isWithdrawn = false;
    const waiting: Waiting = {
      job: { id: ++this.#count, hunks, language },
      done: (tokens) => {
        if (!isWithdrawn) done(tokens);
      },
    };
    this.#waiting.push(waiting);
    this.#next();
    return () => {
      const at = this.#waiting.indexOf(waiting);
      if (at >= 0) this.#waiting.splice(at, 1);
      isWithdrawn = true;
    };
  }

  #next(): void {
    if (this.#current) return;
    const next = this.#waiting.shift();
    if (!next) return;
    this.#current = next;
    this.#worker ??= this.#start();
    this.#timer = window.setTimeout(() => this.#fail(), maxMs);
    this.#worker.postMessage(next.job);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<Highlighted>) => {
      if (data.id === this.#current?.job.id) this.#finish(data.tokens);
    });
    worker.addEventListener('error', () => this.#fail());
    return worker;
  }

  #fail(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#finish(null);
  }

  #finish(tokens: Highlighted['tokens']): void {
    clearTimeout(this.#timer);
    const current = this.#current;
    this.#current = null;
    current?.done(tokens);
    this.#next();
  }
}

const highlighter = new Highlighter();

/**
 * Returns the tokens of hunks by their line numbers in the file; null until they are known, and for hunks that are too
 * large or take too long.
 */
export function useTokens(hunks: readonly Hunk[], language: string): HunkTokens | null {
  const [found, setFound] = useState<{ readonly hunks: readonly Hunk[]; readonly tokens: HunkTokens } | null>(null);
  useEffect(() => {
    const length = hunks.reduce((sum, { lines }) => lines.reduce((total, line) => total + line.length, sum), 0);
    if (length > maxLength) return;
    return highlighter.request(hunks.flatMap(countedFromOne), language, (tokens) => {
      if (tokens) setFound({ hunks, tokens: atLines(hunks, tokens) });
    });
  }, [hunks, language]);
  // The tokens of the first lines stay while those of more lines are made.
  return found?.tokens ?? null;
}

// Otherwise there would be a token for each line from the start of the file.
const countedFromOne = (hunk: Hunk) =>
  toHunkData([{ ...hunk, oldStart: 1, newStart: 1, oldLines: 1, newLines: 1 }], (text) => text);

function atLines(hunks: readonly Hunk[], tokens: readonly HunkTokens[]): HunkTokens {
  // Sparse arrays.
  const all: HunkTokens = { old: [], new: [] };
  hunks.forEach((hunk, index) => {
    const { old: oldStart, now: newStart } = firstNumbers(hunk);
    tokens[index]?.old.forEach((line, n) => {
      all.old[oldStart - 1 + n] = line;
    });
    tokens[index]?.new.forEach((line, n) => {
      all.new[newStart - 1 + n] = line;
    });
  });
  return all;
}
