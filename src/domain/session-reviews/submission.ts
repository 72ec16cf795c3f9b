import { z } from 'zod';
import { DomainError, invalidInput } from '../../common/errors.ts';
import { parseInput, text } from '../input.ts';

const maxComments = 50;
const maxCharacters = 60_000;

const commentSchema = z.object({
  path: text('path', { min: 1, max: 4_096 }),
  line: z.int({ error: '"line" must be an integer.' }).min(1, '"line" must be at least 1.').max(2_147_483_647),
  side: z
    .enum(['new', 'old'], '"side" must be "new" or "old".')
    .nullish()
    .transform((side) => side ?? 'new'),
  body: text('body', { min: 1, max: 5_000, isBlankRefused: true }),
});

const submissionSchema = z
  .object({
    body: text('body', { min: 1, max: 20_000, isBlankRefused: true }),
    comments: z
      .array(commentSchema, { error: '"comments" must be a list.' })
      .max(maxComments, `"comments" must have at most ${maxComments} items.`)
      .nullish()
      .transform((comments) => comments ?? []),
  })
  .refine(({ comments }) => comments.reduce((sum, { body }) => sum + body.length, 0) <= maxCharacters, {
    error: `The comments must have at most ${maxCharacters} characters in all.`,
    path: ['comments'],
  });

/** A review that an agent submits. */
export type ReviewSubmission = z.input<typeof submissionSchema>;

/** A parsed {@link ReviewSubmission}. */
export type Submission = z.output<typeof submissionSchema>;

/**
 * Parses the review of an agent. Throws INVALID_INPUT. A message about a comment names the comment, as in `comments[0].path`: the agent
 * gets only the message.
 */
export function parseSubmission(input: ReviewSubmission): Submission {
  try {
    return parseInput(submissionSchema, input);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw invalidInput(
      error.issues.map(({ path, message }) => {
        const [list, index, name] = path;
        if (list !== 'comments' || index === undefined) return { path, message };
        const location = `comments[${index}]`;
        if (name === undefined) return { path, message: `"${location}" must be an object.` };
        return { path, message: message.replace(`"${name}"`, `"${location}.${name}"`) };
      }),
    );
  }
}
