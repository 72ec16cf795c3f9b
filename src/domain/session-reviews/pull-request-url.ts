import { parseUrl } from '../../common/parse-url.ts';

/** A pull request that a URL names. */
export interface PullRequestAddress {
  /** The URL of the repository, for `parseReference`. */
  readonly repository: string;
  readonly number: number;
}

/**
 * Reads the URL of the page of a pull request at GitHub, GitLab or Gitea, also of one of its tabs. Null for any other text. Queries and
 * fragments do not count.
 */
export function parsePullRequestUrl(text: string): PullRequestAddress | null {
  const url = parseUrl(text.trim());
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  const form = /^(\/.+?)\/(?:pulls?|-\/merge_requests)\/(\d{1,9})(?:\/.*)?$/;
  const [, path, digits] = form.exec(url.pathname) ?? [];
  return path === undefined || Number(digits) === 0 ? null : { repository: url.origin + path, number: Number(digits) };
}
