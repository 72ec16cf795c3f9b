import { parseUrl } from '../../common/parse-url.ts';
import { isRepositoryPath } from '../../forges/support/paths.ts';
import { parseId } from '../ids.ts';

/** The parts of a reference to a repository. Several are possible: `a/b/c` is a path, or the path `b/c` of the host `a`. */
export interface RepositoryCandidate {
  /** Unprefixed id; null: the repository is named by its path. */
  readonly id: string | null;
  /** In lower case, with the port if it is not the default; null: any host. */
  readonly host: string | null;
  /** Without `.git`; empty with an id. */
  readonly path: string;
}

/** Maximum length of a reference, in characters. */
const maxReferenceLength = 1_000;

/**
 * Reads `owner/name`, `host/owner/name`, a URL (https, http, ssh or `git@host:path`), or an id in any form. Returns an empty
 * list for a text that names no repository.
 */
export function parseReference(reference: string): RepositoryCandidate[] {
  const text = reference.trim();
  if (text.length > maxReferenceLength) return [];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return parseAddress(text);
  const scp = /^(?:[\w.-]+@)([\w.-]+):(?!\/)(.+)$/.exec(text);
  if (scp) return candidate(scp[1] as string, scp[2] as string);
  const id = parseId('repository', text);
  if (id !== null) return [{ id, host: null, path: '' }];
  const [first = '', ...rest] = text.split('/');
  const isHost = /^[\w-]+(\.[\w-]+)*(:\d{1,5})?$/.test(first);
  return [...(isHost && rest.length > 1 ? candidate(first, rest.join('/')) : []), ...candidate(null, text)];
}

function parseAddress(text: string): RepositoryCandidate[] {
  const url = parseUrl(text);
  if (!url || !/^(https?|ssh|git\+ssh):$/.test(url.protocol) || url.search !== '' || url.hash !== '') return [];
  // The port of ssh is not the port of the connection.
  const host = /^https?:$/.test(url.protocol) ? url.host : url.hostname;
  return candidate(host, url.pathname);
}

function candidate(host: string | null, text: string): RepositoryCandidate[] {
  const path = cleanPath(text);
  return path === null ? [] : [{ id: null, host: host === null ? null : host.toLowerCase(), path }];
}

/** Returns a path of at least two segments without slashes at its ends and without `.git`; null for any other text. */
export function cleanPath(text: string): string | null {
  const path = text.replace(/^\/+|\/+$/g, '').replace(/\.git$/i, '');
  return path.includes('/') && isRepositoryPath(path) ? path : null;
}
