import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { RefusedError } from './refusals.ts';
import type { GitService } from './routes.ts';

/** Some forges expect a version of git here. */
const defaultProgram = 'git/2.40.0';

/** Returns the headers of a request to a forge besides those of its body. This is an allowlist. */
export function gitHeaders(input: IncomingHttpHeaders): OutgoingHttpHeaders {
  const { 'git-protocol': protocol = '', 'user-agent': program = '' } = input;
  return {
    // Names the program only; others would choose how a forge answers.
    'user-agent': /^(git|git-lfs|JGit)\/[\w. ()+;-]{1,200}$/.test(program) ? program : defaultProgram,
    ...(typeof protocol === 'string' && /^version=[012]$/.test(protocol) ? { 'git-protocol': protocol } : {}),
  };
}

/** Returns the headers of a service's request. Throws RefusedError if it is not one. */
export function serviceHeaders(input: IncomingHttpHeaders, service: GitService): OutgoingHttpHeaders {
  const type = `application/x-git-${service}-request`;
  if (input['content-type'] !== type)
    throw new RefusedError(`The header "Content-Type" of the request must be "${type}".`, 400);
  return { ...gitHeaders(input), 'content-type': type, accept: `application/x-git-${service}-result` };
}

/** Tells if a request's body is compressed. Throws RefusedError for codings that git does not use. */
export function isGzip(input: IncomingHttpHeaders): boolean {
  const { 'content-encoding': coding = 'identity' } = input;
  if (coding !== 'identity' && coding !== 'gzip' && coding !== 'x-gzip')
    throw new RefusedError('The header "Content-Encoding" may only be "gzip".', 400);
  return coding !== 'identity';
}
