import type { QuestionOption } from '../../domain/sessions/questions.ts';
import { builder } from '../builder.ts';
import { questionOptionKind } from './event-enums.ts';

/** QuestionOption of the contract. */
export const QuestionOptionType = builder.objectRef<QuestionOption>('QuestionOption').implement({
  description: 'An answer that an agent offers with a question.',
  fields: (t) => ({
    // Not "id": clients that keep things by their id would take it for a global one.
    optionId: t.exposeString('id', {
      description: 'The option’s id, unique within its question. `answerQuestion` takes it.',
    }),
    name: t.exposeString('name', { description: 'The agent’s words for the answer, on one line.' }),
    kind: t.field({
      type: questionOptionKind.type,
      nullable: true,
      description: 'Whether the option allows or refuses, and for how long; null for the options of a plain question.',
      resolve: ({ kind }) => questionOptionKind.read(kind),
    }),
  }),
});
