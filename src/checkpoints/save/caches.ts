/**
 * Directories of a home with copies of what is elsewhere: they are in the layer `ignored`, as files that git ignores. Paths of manifests.
 */
const caches = new Set(
  [
    '.cache',
    '.npm/_cacache',
    '.npm/_npx',
    '.bun/install/cache',
    '.yarn/berry/cache',
    '.local/share/pnpm/store',
    '.local/share/uv',
    '.cargo/registry',
    '.cargo/git',
    '.rustup/toolchains',
    '.gradle/caches',
    '.m2/repository',
    '.nuget/packages',
    '.deno',
    'go/pkg/mod',
  ].map((path) => `home/${path}`),
);

/** Returns true if a path is a directory with a cache. */
export function isCache(path: string): boolean {
  return caches.has(path);
}

/** The directory with the caches of many programs: if there is not enough space, they are left out one by one. */
export const cacheContainer = 'home/.cache';
