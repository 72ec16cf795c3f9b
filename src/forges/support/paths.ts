import { z } from 'zod';
import { ForgeError } from '../interface/errors.ts';

/** Maximum length of the path of a repository. */
const maxPathLength = 255;
const maxSegments = 20;

/**
 * Tells if a text is a path of a repository that is safe in URLs, in directories and as an argument of a program: segments of
 * letters, digits and `._~+-`, none beginning with a dash, and none `.` or `..`.
 */
export function isRepositoryPath(path: string, segments?: number): boolean {
  const parts = path.split('/');
  return (
    path.length <= maxPathLength &&
    parts.length <= maxSegments &&
    (segments === undefined || parts.length === segments) &&
    parts.every((part) => /^[A-Za-z0-9._~+][A-Za-z0-9._~+-]*$/.test(part) && !/^\.{1,2}$/.test(part)) &&
    !/\.git$/i.test(path)
  );
}

/** Checks a path that a caller named, without `.git` and slashes at the ends. Throws NOT_FOUND: no repository can have another. */
export function requirePath(path: string, host: string, segments?: number): string {
  const clean = path
    .slice(0, 2 * maxPathLength)
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/i, '');
  if (!isRepositoryPath(clean, segments) || (segments === undefined && clean === '')) {
    throw new ForgeError('NOT_FOUND', `${host} has no repository with this path.`);
  }
  return clean;
}

/** A path that a forge sent: `owner/name`, with more segments only if `segments` is null. */
export const repositoryPath = (segments: number | null = 2) =>
  z.string().refine((path) => path.includes('/') && isRepositoryPath(path, segments ?? undefined), 'not a valid path');
