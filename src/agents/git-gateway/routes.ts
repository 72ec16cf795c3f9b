/** The two services of git over HTTP. */
export type GitService = 'upload-pack' | 'receive-pack';

/** A kind of request that the gateway passes on. */
export type GitRoute =
  /** The list of refs, with which each fetch and push begins. */
  | { readonly type: 'advertisement'; readonly service: GitService }
  | { readonly type: 'service'; readonly service: GitService }
  | { readonly type: 'lfs-batch' }
  /** An object of LFS, or the confirmation of its upload; `token` is that of the batch response. */
  | { readonly type: 'lfs-action'; readonly token: string }
  /** Other requests of LFS clients, such as locks. */
  | { readonly type: 'lfs-other' };

/** A request's repository and kind. */
export interface GitTarget {
  readonly host: string;
  /** Without slashes at its ends and without `.git`. */
  readonly path: string;
  readonly route: GitRoute;
}

/** The path of an action of LFS below the repository's address, without the token. */
export const lfsActionPath = 'info/lfs/actions/';

const targetPath = /^\/([^/]+)\/(.+?)\/(info\/refs|git-upload-pack|git-receive-pack|info\/lfs\/.*)$/;

/** Reads a request's target; null: it is none that the gateway passes on. */
export function targetOf(method: string, { pathname, searchParams }: URL): GitTarget | null {
  const [, host = '', path = '', tail = ''] = targetPath.exec(pathname) ?? [];
  const route = routeOf(method, tail, searchParams);
  const [readHost, readPath] = [decode(host), decode(path)];
  if (route === null || !readHost || !readPath) return null;
  return { host: readHost.toLowerCase(), path: readPath.replace(/^\/+|\/+$/g, '').replace(/\.git$/, ''), route };
}

function routeOf(method: string, tail: string, parameters: URLSearchParams): GitRoute | null {
  if (tail === 'info/refs') {
    const service = parameters.size === 1 && method === 'GET' ? serviceOf(parameters.get('service') ?? '') : null;
    return service && { type: 'advertisement', service };
  }
  const service = serviceOf(tail);
  if (service !== null) return method === 'POST' ? { type: 'service', service } : null;
  if (tail === 'info/lfs/objects/batch' && method === 'POST') return { type: 'lfs-batch' };
  if (tail.startsWith(lfsActionPath)) return { type: 'lfs-action', token: tail.slice(lfsActionPath.length) };
  return tail.startsWith('info/lfs/') ? { type: 'lfs-other' } : null;
}

function serviceOf(name: string): GitService | null {
  if (name === 'git-upload-pack') return 'upload-pack';
  return name === 'git-receive-pack' ? 'receive-pack' : null;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
