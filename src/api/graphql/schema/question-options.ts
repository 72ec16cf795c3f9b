import type { QuestionOption } from '../../../domain/sessions/questions.ts';
import { builder } from '../builder.ts';
import { questionOptionKind } from './event-enums.ts';

export const QuestionOptionType = builder.objectRef<QuestionOption>('QuestionOption').implement({
  description: 'Answer that an agent offers with a question.',
  fields: (t) => ({
    // Not "id": clients that cache objects by id would read it as a global one.
    optionId: t.exposeString('id', {
      description: 'Id of the option, unique within its question. `answerQuestion` takes it as `optionId`.',
    }),
    name: t.exposeString('name', { description: 'Text of the answer as the agent wrote it, on a single line.' }),
    kind: t.field({
      type: questionOptionKind.type,
      nullable: true,
      description:
        'Effect of the option on a request for a permission: allow or reject, once or always. Null for the options of a plain question.',
      resolve: ({ kind }) => questionOptionKind.read(kind),
    }),
  }),
});
