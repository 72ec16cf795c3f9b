import { expect, it } from 'vitest';
import { cleanPullRequestUrl } from '../../../src/domain/execution/reports/pull-requests.ts';
import { isPullRequestOf, pullRequestName } from '../../../web/src/session/pull-request-name.ts';

it.each([
  ['http://127.0.0.1:9999/acme/api/pull/12', '127.0.0.1:9999/acme/api #12'],
  ['https://git.example/acme/api/pulls/12', 'git.example/acme/api #12'],
  ['https://github.com.evil.example/acme/api/pull/12', 'github.com.evil.example/acme/api #12'],
  ['https://github.com:8443/acme/api/pull/12', 'github.com:8443/acme/api #12'],
  ['https://evil.example/github.com/api/pull/12', 'evil.example/github.com/api #12'],
])('the name of a pull request shows the host that an agent chose: %s', (url, name) => {
  expect(cleanPullRequestUrl(url)).toBe(url);
  expect(pullRequestName(url)).toBe(name);
});

it.each([
  ['https://github.com/acme/api/pull/12', 'acme/api #12'],
  ['https://gitlab.com/acme/team/api/-/merge_requests/12', 'acme/team/api #12'],
  ['https://bitbucket.org/acme/api/pull-requests/12', 'acme/api #12'],
])('the name of a pull request on a well-known host is short: %s', (url, name) => {
  expect(pullRequestName(url)).toBe(name);
});

it('the name in another form is its address without the scheme', () => {
  expect(pullRequestName('https://dev.azure.com/acme/p/_git/api/pullrequest/12')).toBe(
    'dev.azure.com/acme/p/_git/api/pullrequest/12',
  );
});

it('belongs to the repository of its host and path alone', () => {
  const repository = { host: 'git.example', path: 'acme/api' };
  expect(isPullRequestOf('https://git.example/Acme/api/pulls/3', repository)).toBe(true);
  expect(isPullRequestOf('https://git.example/acme/api-2/pulls/3', repository)).toBe(false);
  expect(isPullRequestOf('https://git.other/acme/api/pulls/3', repository)).toBe(false);
  expect(isPullRequestOf('no address', repository)).toBe(false);
});
