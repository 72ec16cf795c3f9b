import type { ForgeAnswer, ForgeRequest } from './forge-server.ts';
import type { GithubGit } from './github-git.ts';

/** A changed file of a pull request in GitHub's form. */
interface ChangedFile {
  readonly filename: string;
  readonly patch: string;
}

/** Reads the changed files of a pull request from the git server, as GitHub's API lists them. */
export async function changedFiles(
  { git }: GithubGit,
  repository: string,
  { base, head }: { readonly base: string; readonly head: string },
): Promise<ChangedFile[]> {
  const range = `${base}...${head}`;
  const names = (await git(repository, 'diff', '--name-only', '-z', range)).split('\0').filter(Boolean);
  return await Promise.all(
    names.map(async (filename) => {
      const text = await git(repository, 'diff', '-U3', range, '--', filename);
      const start = text.indexOf('\n@@ ');
      return { filename, patch: start < 0 ? '' : text.slice(start + 1) };
    }),
  );
}

interface ReviewBody {
  readonly event: string;
  readonly body: string;
  readonly commit_id: string;
  readonly comments?: readonly { path: string; line: number; side: 'LEFT' | 'RIGHT'; body: string }[];
}

/** Submits a review whose comments name lines, all of it or nothing. The emulator takes such comments one by one only. */
export async function submitReview(
  { body }: ForgeRequest,
  files: readonly ChangedFile[],
  post: (rest: string, body: string) => Promise<ForgeAnswer>,
): Promise<ForgeAnswer> {
  const { comments = [], ...review } = JSON.parse(body) as ReviewBody;
  const isShown = ({ path, line, side }: (typeof comments)[number]) =>
    files.some(({ filename, patch }) => filename === path && shownLines(patch, side).includes(line));
  if (!comments.every(isShown)) {
    const errors = ['Pull request review thread line must be part of the diff'];
    return { status: 422, body: { message: 'Unprocessable Entity', errors } };
  }
  const answer = await post('/reviews', JSON.stringify(review));
  if ((answer.status ?? 200) >= 300) return answer;
  for (const comment of comments)
    await post('/comments', JSON.stringify({ ...comment, 'commit_id': review.commit_id, 'subject_type': 'line' }));
  return answer;
}

function shownLines(patch: string, side: 'LEFT' | 'RIGHT'): number[] {
  const skipped = side === 'LEFT' ? '+' : '-';
  const lines: number[] = [];
  let next = 0;
  for (const line of patch.split('\n')) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (start) next = Number(start[side === 'LEFT' ? 1 : 2]);
    else if (line[0] !== skipped && line[0] !== '\\') lines.push(next++);
  }
  return lines;
}
