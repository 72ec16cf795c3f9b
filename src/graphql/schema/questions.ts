import { prefixedId } from '../../domain/ids.ts';
import { answerQuestion } from '../../domain/sessions/answer-question.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { MessageEntry } from '../../domain/sessions/log.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { PermissionEvent, QuestionEvent, SessionMessage } from './events.ts';
import { managesSession } from './needs.ts';
import { clientMutationIdDescription, idempotencyKeyOf, payloadType } from './payloads.ts';
import { Session } from './sessions.ts';

builder.objectField(Session, 'pendingQuestion', (t) =>
  t.field({
    type: QuestionEvent,
    nullable: true,
    description:
      'The question that the agent waits with, which `answerQuestion` answers; null when there is none, and for a viewer who may not read the session’s log.',
    resolve: ({ pendingQuestionId }, _args, { loaders }) =>
      pendingQuestionId === null ? null : loaders.logEntries.load(pendingQuestionId),
  }),
);

builder.objectField(PermissionEvent, 'question', (t) =>
  t.field({
    type: QuestionEvent,
    nullable: true,
    description: 'The question in which a user was asked for the permission; null when the agent’s profile decided.',
    resolve: ({ data }, _args, { loaders }) =>
      typeof data?.questionId === 'string' ? loaders.logEntries.load(data.questionId) : null,
  }),
);

const QuestionAnswer = builder
  .objectRef<{ readonly questionId: string; readonly optionId: string | null }>('QuestionAnswer')
  .implement({
    description: 'The question that a user’s message is the answer to, and the option that was chosen.',
    fields: (t) => ({
      questionId: t.string({
        description: 'The `questionId` of the question that was answered.',
        resolve: ({ questionId }) => prefixedId('event', questionId),
      }),
      question: t.field({
        type: QuestionEvent,
        nullable: true,
        description: 'The question that was answered; null for a viewer who may not read the session’s log.',
        resolve: ({ questionId }, _args, { loaders }) => loaders.logEntries.load(questionId),
      }),
      optionId: t.exposeString('optionId', {
        nullable: true,
        description: 'The `optionId` of the option that was chosen; null when the message’s words are the answer.',
      }),
    }),
  });

builder.objectField(SessionMessage, 'answer', (t) =>
  t.field({
    type: QuestionAnswer,
    nullable: true,
    description: 'What the message answers; null for a message that is no answer to a question of the agent.',
    resolve: ({ data }) => {
      const { questionId, optionId = null } = (data ?? {}) as { questionId?: string; optionId?: string };
      return questionId === undefined ? null : { questionId, optionId };
    },
  }),
);

const QuestionAnswerInput = builder.inputType('QuestionAnswerInput', {
  description: 'An answer to a question: one of its options, or words.',
  isOneOf: true,
  fields: (t) => ({
    optionId: t.string({ description: 'The `optionId` of one of the question’s options.' }),
    text: t.string({
      description:
        'The answer in words. A request for a permission takes an `optionId` only; words for the agent go by `sendMessage`.',
    }),
  }),
});

const AnswerQuestionInput = builder.inputType('AnswerQuestionInput', {
  description: 'An answer to the question that a session’s agent waits with.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: 'The session: its global ID, or any form of its id.' }),
    questionId: t.id({
      required: true,
      description:
        'The question that is meant, by its `questionId` or its global ID: `Session.pendingQuestion` has it.',
    }),
    answer: t.field({
      type: QuestionAnswerInput,
      required: true,
      description: 'The answer: one of the question’s options, or words.',
    }),
    asUserId: t.id({
      description:
        'A member of the organization whose answer it is to be; needs IMPERSONATE_ORG_SESSIONS. The viewer’s own when left out.',
    }),
    idempotencyKey: t.string({
      description: 'The same key and input give one answer within 24 hours, however often they are sent.',
    }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const AnswerQuestionPayload = payloadType<{ session: SessionRecord; message: MessageEntry }>(
  'AnswerQuestionPayload',
  'An answer that was taken.',
  (t) => ({
    session: t.expose('session', {
      type: Session,
      nullable: true,
      description: 'The session after the answer; one that slept is being resumed.',
    }),
    message: t.expose('message', {
      type: SessionMessage,
      nullable: true,
      description: 'The answer as a message in the log, with the option that was chosen in `answer`.',
    }),
  }),
);

addMutation('answerQuestion', {
  input: AnswerQuestionInput,
  payload: AnswerQuestionPayload,
  needs: [managesSession],
  description:
    'Answers a question of an agent: exactly the one that is named. INVALID_STATE when it is no longer open, because it was answered or the agent went on without; UNKNOWN_REFERENCE when it is no question of the session. Needs MANAGE_ORG_SESSIONS, unless the session is one’s own.',
  act: (input, context, info) => {
    const { sessionId, questionId, answer, asUserId } = input;
    return answerQuestion(ofAnySession(context.domain, 'manage'), {
      sessionId,
      questionId,
      answer,
      asUserId,
      idempotencyKey: idempotencyKeyOf(context, input, info),
    });
  },
});
