import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { answerQuestion } from '../../../domain/sessions/answer-question.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { PermissionEvent, QuestionEvent, SessionMessage } from './events.ts';
import { managesSession } from './needs.ts';
import { sessionIdDescription } from './session-id.ts';
import { Session } from './sessions.ts';

builder.objectField(Session, 'pendingQuestion', (t) =>
  t.field({
    type: QuestionEvent,
    nullable: true,
    description:
      'Question that the agent waits with, which `answerQuestion` answers; null if there is none or the viewer may not read the session’s log.',
    resolve: ({ pendingQuestionId }, _args, { loaders }) =>
      pendingQuestionId === null ? null : loaders.logEntries.load(pendingQuestionId),
  }),
);

builder.objectField(PermissionEvent, 'question', (t) =>
  t.field({
    type: QuestionEvent,
    nullable: true,
    description: 'Question that asked a user for the permission; null if the agent profile decided.',
    resolve: ({ data }, _args, { loaders }) =>
      typeof data?.questionId === 'string' ? loaders.logEntries.load(data.questionId) : null,
  }),
);

const QuestionAnswer = builder
  .objectRef<{ readonly questionId: string; readonly optionId: string | null }>('QuestionAnswer')
  .implement({
    description: 'Question that a user’s message answers, and the option that was chosen.',
    fields: (t) => ({
      questionId: t.string({
        description: 'Id of the question that was answered, in the form of `QuestionEvent.questionId`.',
        resolve: ({ questionId }) => prefixedId('event', questionId),
      }),
      question: t.field({
        type: QuestionEvent,
        nullable: true,
        description: 'Question that was answered; null if the viewer may not read the session’s log.',
        resolve: ({ questionId }, _args, { loaders }) => loaders.logEntries.load(questionId),
      }),
      optionId: t.exposeString('optionId', {
        nullable: true,
        description: 'Id of the option that was chosen; null if the text of the message is the answer.',
      }),
    }),
  });

builder.objectField(SessionMessage, 'answer', (t) =>
  t.field({
    type: QuestionAnswer,
    nullable: true,
    description: 'Question and option that the message answers; null if the message answers no question of the agent.',
    resolve: ({ data }) => {
      const { questionId, optionId = null } = (data ?? {}) as { questionId?: string; optionId?: string };
      return questionId === undefined ? null : { questionId, optionId };
    },
  }),
);

const QuestionAnswerInput = builder.inputType('QuestionAnswerInput', {
  description: 'Answer to a question: one of its options, or a text. Exactly one field must be set.',
  isOneOf: true,
  fields: (t) => ({
    optionId: t.string({ description: 'Id of the chosen option: the `optionId` of one of the question’s options.' }),
    text: t.string({
      description:
        'Answer as a text, 1 to 500,000 characters. A request for a permission accepts only an `optionId`; use `sendMessage` for other text.',
    }),
  }),
});

addMutation('answerQuestion', {
  description:
    'Answers the given question of an agent. INVALID_STATE if the question is no longer open because it was answered or the agent continued without an answer; UNKNOWN_REFERENCE if the session has no such question.',
  needs: [managesSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    questionId: t.id({
      required: true,
      description: 'Global ID or `questionId` of the question to answer, as in `Session.pendingQuestion`.',
    }),
    answer: t.field({
      type: QuestionAnswerInput,
      required: true,
      description: 'Answer to the question: one of its options, or a text.',
    }),
    asUserId: t.id({
      description:
        'Global ID or REST id of the organization member to answer as. Another user than the viewer requires `IMPERSONATE_ORG_SESSIONS`. Defaults to the viewer.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    session: {
      type: Session,
      description: 'Session after the answer. A suspended session is being resumed. Null if `userErrors` is not empty.',
    },
    message: {
      type: SessionMessage,
      description:
        'Message in the log that holds the answer, with the chosen option in `answer`. Null if `userErrors` is not empty.',
    },
  },
  act: (input, context, options) => {
    const { sessionId, questionId, answer, asUserId } = input;
    return answerQuestion(ofAnySession(context.domain, 'manage'), {
      sessionId,
      questionId,
      answer,
      asUserId,
      ...options,
    });
  },
});
