// The program of the thread that compiles and runs the regular expressions and globs of automations.
import { RE2JS } from 're2js';
import { serveTasks } from '../../../threads/serve-tasks.ts';
import { maxInstructions, sizeOfGlobs, sizeOfPattern } from '../model/pattern-sizes.ts';
import type { Pattern, PatternAnswer, PatternQuestion } from '../model/patterns.ts';

/** How large the compiled patterns that are kept may be together: each instruction takes a few KB at most. */
const maxCached = 10 * maxInstructions;

const cached = new Map<string, { readonly compiled: RE2JS | null; readonly size: number }>();
let cachedSize = 0;

serveTasks(({ tests, progress }: PatternQuestion): PatternAnswer => {
  return tests.map(({ pattern, texts }, n) => {
    // The service reads it where there is no answer in time.
    Atomics.store(progress, 0, n);
    const compiled = findCompiled(pattern);
    if (compiled === null) return null;
    return texts.some((text) => (pattern.kind === 'regex' ? compiled.test(text) : compiled.testExact(text)));
  });
});

function findCompiled(pattern: Pattern): RE2JS | null {
  const key = JSON.stringify(pattern);
  const cachedPattern = cached.get(key);
  if (cachedPattern !== undefined) return cachedPattern.compiled;
  const compiled = compile(pattern);
  const instructions = pattern.kind === 'regex' ? sizeOfPattern(pattern.source) : sizeOfGlobs(pattern.globs);
  const size = compiled === null ? key.length : instructions + 1;
  for (const [oldest, { size: freed }] of cached) {
    if (cachedSize + size <= maxCached) break;
    cached.delete(oldest);
    cachedSize -= freed;
  }
  if (size <= maxCached) {
    cached.set(key, { compiled, size });
    cachedSize += size;
  }
  return compiled;
}

/** Null where it is no regular expression of RE2. */
function compile(pattern: Pattern): RE2JS | null {
  try {
    if (pattern.kind === 'regex') return RE2JS.compile(pattern.source);
    return RE2JS.compile(pattern.globs.map(regexOfGlob).join('|'), RE2JS.DOTALL);
  } catch {
    return null;
  }
}

const globPart = /\*\*\/|\*\*|\*|\?|[^*?]+/g;
const wildcards: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

/**
 * `*` stands for any characters but "/", `**` for any at all, `**` with a "/" behind it for any directories or none, `?` for one
 * character but "/". All else stands for itself.
 */
function regexOfGlob(glob: string): string {
  return [...glob.matchAll(globPart)].map(([part]) => wildcards[part] ?? RE2JS.quote(part)).join('');
}
