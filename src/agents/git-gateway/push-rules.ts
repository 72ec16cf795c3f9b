import { branchOf } from '../../git/ref-names.ts';
import type { PushCommand, PushHead } from './command-list.ts';

/** The changes that a session may push to a repository. */
export interface PushRules {
  /**
   * The session's own branches, which it may create and update, without `refs/heads/`. An asterisk stands for one or
   * more characters other than a slash.
   */
  readonly branches: readonly string[];
  /** True if it may create and update all other branches too. */
  readonly allowOtherBranches: boolean;
  /** True if it may create and update tags. */
  readonly allowTags: boolean;
  /** True if it may delete the refs that it may update. */
  readonly allowDeletions: boolean;
  /**
   * The names of push options that it may use, without their values. With some options a forge changes the repository's
   * visibility, or merges.
   */
  readonly pushOptions: readonly string[];
  /** A sentence that refusals end with. */
  readonly note?: string;
}

/** A ref of a refused push, and the reason as a sentence. */
export interface RefusedRef {
  readonly ref: string;
  readonly reason: string;
}

/** The reason of refs that would be allowed in another push. */
const otherRefused = 'not pushed because another ref was refused';

/** Applies the rules to a push. Returns null if it is allowed; otherwise all of its refs with reasons. */
export function refusedRefs({ commands, options }: PushHead, rules: PushRules): readonly RefusedRef[] | null {
  const option = options.find((each) => !rules.pushOptions.includes(nameOf(each)));
  const reasonFor = (command: PushCommand) =>
    option === undefined ? reasonAgainst(command, rules) : 'this session may not use this push option';
  const reasons = commands.map((command) => ({ ref: command.ref, reason: reasonFor(command) }));
  if (reasons.every(({ reason }) => reason === null)) return null;
  return reasons.map(({ ref, reason }) => ({ ref, reason: reason ?? otherRefused }));
}

/** Says where the session may push, as a sentence. */
export function describeRules({ branches, allowOtherBranches, allowTags, note }: PushRules): string {
  if (allowOtherBranches) return `This session may push to all branches${allowTags ? ' and tags' : ''}.`;
  const tags = allowTags ? ' It may also push tags.' : '';
  const more = note === undefined ? tags : `${tags} ${note}`;
  if (branches.length === 0) return `This session may push to no branch.${more}`;
  return `This session may push to ${branches.slice(0, 5).join(', ')} only.${more}`;
}

/** Tells if a branch is one of the session's own. */
export function isOwnBranch(branch: string, patterns: readonly string[]): boolean {
  const parts = branch.split('/');
  return patterns.some((pattern) => {
    const wanted = pattern.split('/');
    return wanted.length === parts.length && wanted.every((each, n) => matches(each, parts[n] ?? ''));
  });
}

function reasonAgainst({ ref, newId }: PushCommand, rules: PushRules): string | null {
  const branch = branchOf(ref);
  const isTag = ref.startsWith('refs/tags/');
  if (branch === null && !isTag) return 'this session may push branches only';
  if (isTag && !rules.allowTags) return 'this session may not push tags';
  if (branch !== null && !rules.allowOtherBranches && !isOwnBranch(branch, rules.branches))
    return 'this session may push to its own branches only';
  return newId === null && !rules.allowDeletions ? 'this session may not delete it' : null;
}

// Linear for each asterisk: of several positions for the text between two asterisks, the first is as good as any.
function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const each of rest) {
    const found = text.indexOf(each, at + 1);
    if (found < 0) return false;
    at = found + each.length;
  }
  return text.length - last.length > at;
}

function nameOf(option: string): string {
  return option.split('=', 1)[0] ?? '';
}
