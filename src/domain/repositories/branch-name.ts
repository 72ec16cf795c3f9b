import { isBranchName } from '../../forges/support/text.ts';
import { text } from '../input.ts';

/** The template of branches where neither the repository nor the organization has one. */
export const defaultBranchTemplate = 'switchyard/{slug}-{short id}';

/** Maximum length of a template, in characters. */
const maxTemplateLength = 200;
const maxSlugLength = 40;

/** The values of a session that its branch is named by. */
interface NamedSession {
  /** Unprefixed id. */
  readonly id: string;
  readonly title: string;
}

/**
 * Returns the name of a session's branch. `{slug}` becomes the title in lower case, with dashes for all that is neither a letter
 * nor a digit of ASCII, at most 40 characters; `{short id}` becomes the last 8 characters of the session's id, which are random.
 */
export function branchName(template: string, { id, title }: NamedSession): string {
  return template.replaceAll('{slug}', slugOf(title)).replaceAll('{short id}', id.slice(-8));
}

function slugOf(title: string): string {
  const words = title
    .slice(0, 500)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return (
    words
      .slice(0, maxSlugLength + 1)
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, maxSlugLength)
      .replace(/-$/, '') || 'session'
  );
}

// The longest values: a template that is valid with them is valid with all.
const sample: NamedSession = { id: '0'.repeat(32), title: 'a'.repeat(maxSlugLength) };

/** A template of branch names in an input. It must have `{short id}`, so that no two sessions share a branch. */
export const branchTemplateSchema = text('branchTemplate', { min: 1, max: maxTemplateLength })
  .refine((template) => template.includes('{short id}'), {
    error: '"branchTemplate" must contain "{short id}", so that each session gets its own branch.',
  })
  .refine((template) => isBranchName(branchName(template, sample)) && !/[{}]/.test(branchName(template, sample)), {
    error: '"branchTemplate" must be a valid branch name with no placeholders other than "{slug}" and "{short id}".',
  })
  .refine((template) => !/^refs\//i.test(template), {
    error: '"branchTemplate" must not begin with "refs/": it is the name of a branch, not of a ref.',
  });
