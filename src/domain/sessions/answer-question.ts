import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import type { CreateOptions } from '../idempotency.ts';
import { parseInput, text } from '../input.ts';
import { chooseOwner } from './as-user.ts';
import { attachmentsNamedIn } from './attachments/attach.ts';
import { maxPromptLength } from './create-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import { findQuestion, parseQuestionId, type Question } from './questions.ts';
import { type Closing, type MessageToWrite, type SentMessage, sendOnce } from './write-message.ts';

/** An answer to one question of a session's agent. */
export interface AnswerQuestionInput extends SessionTarget, CreateOptions {
  /** Unprefixed or global id. */
  readonly questionId: string;
  /** Exactly one of the two. */
  readonly answer: { readonly optionId?: string | null | undefined; readonly text?: string | null | undefined };
  /** The member in whose name the answer is sent; the viewer itself if omitted. */
  readonly asUserId?: string | null | undefined;
}

/** The text of an answer in inputs. */
export const answerTextSchema = z.object({
  answer: z.object({ text: text('text', { min: 1, max: maxPromptLength, isBlankRefused: true }) }),
});

/**
 * Answers the pending question of a session as a message of the user, and wakes a suspended session. Only one answer is
 * accepted: INVALID_STATE for a question that is no longer open. Throws the errors of `sendMessage`, and
 * UNKNOWN_REFERENCE for an id that is not a question of the session. Needs the permissions of `sendMessage`.
 */
export async function answerQuestion(context: Context, input: AnswerQuestionInput): Promise<SentMessage> {
  const seen = await getSessionFor(context, permissionFor.sendMessage, input);
  const owner = await chooseOwner(context, seen.organizationId, {
    userId: input.asUserId,
    argument: 'asUserId',
    permission: permissionFor.sendMessageAsUser,
  });
  const id = parseQuestionId(input.questionId);
  const question = id === null ? null : await findQuestion(context, seen.id, id);
  if (!question) throw refuse(['questionId'], 'The session has no question with this id.', 'UNKNOWN_REFERENCE');
  const { message, closing } = answerTo(question, input.answer);
  // `said` stays as it is: stored idempotency keys have a hash of this input.
  const same = { ...closing, 'said': message, ...(input.asUserId == null ? {} : { userId: owner.userId }) };
  return sendOnce(
    context,
    seen,
    { operation: 'answerQuestion', options: input, input: same },
    { text: message, owner, closing: ifOpen(closing) },
  );
}

type QuestionAnswer = Extract<Closing, { questionId: string }>;

function answerTo(
  { id: questionId, isPermission, options }: Question,
  answer: AnswerQuestionInput['answer'],
): { message: string; closing: QuestionAnswer } {
  if ((answer.optionId == null) === (answer.text == null)) {
    throw refuse(['answer'], '"answer" must be an "optionId" or a "text".');
  }
  if (answer.optionId == null) {
    if (isPermission) {
      const why = 'A permission request requires an "optionId". To answer in words, send a message.';
      throw refuse(['answer', 'text'], why);
    }
    return { message: parseInput(answerTextSchema, { answer }).answer.text, closing: { questionId } };
  }
  const { optionId } = answer;
  const option = options.find((each) => each.id === optionId);
  if (!option) throw refuse(['answer', 'optionId'], '"optionId" must be the id of one of the question’s options.');
  // The agent chose the name, which must not give it access to an attachment.
  const message = attachmentsNamedIn(option.name).length > 0 ? `Option ${optionId}` : option.name;
  return { message, closing: { questionId, optionId } };
}

function ifOpen(closing: QuestionAnswer): MessageToWrite['closing'] {
  return async (_tx, { pendingQuestionId }) => {
    if (pendingQuestionId === closing.questionId) return closing;
    const why = 'This question is no longer open: it was answered, or the agent no longer waits for it.';
    throw refuse(['questionId'], why, 'INVALID_STATE');
  };
}
