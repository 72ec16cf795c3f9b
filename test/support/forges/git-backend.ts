import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** The environment of git commands outside of a sandbox, without the machine's configuration. */
export const plainGit: Record<string, string> = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
};

/** True if the request is a push with its objects. */
export const isPush = ({ method, url }: IncomingMessage): boolean =>
  method === 'POST' && /\/git-receive-pack$/.test(url ?? '');

/**
 * Answers a request by git's own CGI program, `git http-backend`, for the repositories in `root`. `afterPush` runs before the
 * answer to a push is sent.
 */
export function serveGit(
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
  afterPush?: () => Promise<void>,
): void {
  const url = new URL(request.url ?? '', 'http://forge');
  const { headers } = request;
  const child = spawn('git', ['http-backend'], {
    env: {
      ...plainGit,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method ?? '',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: headers['content-type'] ?? '',
      REMOTE_USER: 'x-access-token',
      ...(headers['content-length'] ? { CONTENT_LENGTH: headers['content-length'] } : {}),
      ...(headers['content-encoding'] ? { HTTP_CONTENT_ENCODING: headers['content-encoding'] } : {}),
      ...(headers['git-protocol'] ? { GIT_PROTOCOL: String(headers['git-protocol']) } : {}),
    },
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  response.once('close', () => child.kill());
  const isHeld = afterPush !== undefined && isPush(request);
  const held: Buffer[] = [];
  const write = (part: Buffer) => void (isHeld ? held.push(part) : response.write(part));
  let head: Buffer | null = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (head === null) return write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const fields = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(/: */) as [string, string]);
    const status = fields.find(([name]) => name === 'Status')?.[1];
    for (const [name, value] of fields) if (name !== 'Status') response.setHeader(name, value);
    response.statusCode = Number.parseInt(status ?? '200', 10);
    write(head.subarray(end + 4));
    head = null;
  });
  child.once('close', () => {
    if (head !== null) return void response.destroy();
    if (!isHeld) return void response.end();
    afterPush().then(
      () => response.end(Buffer.concat(held)),
      (error: unknown) => response.destroy(error as Error),
    );
  });
}
