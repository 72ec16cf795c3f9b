// The program of the thread that compiles and runs the regular expressions and globs of automations.
import { RE2JS } from 're2js';
import { serveTasks } from '../../../threads/serve-tasks.ts';
import type { Pattern, PatternAnswer, PatternQuestion } from '../../patterns.ts';
import { maxInstructions, sizeOfGlobs, sizeOfPattern } from '../model/pattern-sizes.ts';

/** Maximum size of all cached patterns: each instruction takes a few KB at most. */
const maxCached = 10 * maxInstructions;

const cached = new Map<string, { readonly compiled: RE2JS | null; readonly size: number }>();
let cachedSize = 0;

serveTasks(({ tests, progress }: PatternQuestion): PatternAnswer => {
  return tests.map(({ pattern, texts }, n) => {
    // The service reads it if no answer arrives in time.
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

/** Returns null for an invalid RE2 regular expression. */
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
 * `*` matches any characters but "/", `**` any characters, `**` followed by "/" any number of directories, `?` one
 * character but "/". All other characters match themselves.
 */
function regexOfGlob(glob: string): string {
  return [...glob.matchAll(globPart)].map(([part]) => wildcards[part] ?? RE2JS.quote(part)).join('');
}
