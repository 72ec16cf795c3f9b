import { previewRecurrence, type RecurrencePreview } from '../../domain/automations/preview-recurrence.ts';
import { builder } from '../builder.ts';

const RecurrencePreviewType = builder.objectRef<RecurrencePreview>('RecurrencePreview').implement({
  description: 'When a rule for a recurring trigger would fire.',
  fields: (t) => ({
    times: t.field({
      type: ['DateTime'],
      description: 'The next times, in order; none where there is a problem.',
      resolve: ({ times }) => [...times],
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why no automation can have this rule, in a sentence; null: one can.',
    }),
  }),
});

builder.queryField('recurrencePreview', (t) =>
  t.field({
    type: RecurrencePreviewType,
    description: 'When an automation would act that is made with a rule now. Nothing is kept.',
    // Each time takes about as long to find as it takes to read and write ten items; so does looking the rule over.
    extensions: { items: 'count', weight: 10 },
    args: {
      rule: t.arg.string({ required: true, description: 'The RRULE, as the condition of a recurring trigger has it.' }),
      timeZone: t.arg.string({
        description: 'By whose clocks it goes, as `timeZone` of a trigger; UTC when left out.',
      }),
      count: t.arg.int({ defaultValue: 5, description: 'How many: 1 to 20.' }),
    },
    resolve: (_root, { rule, timeZone, count }, { domain }) =>
      previewRecurrence(domain, rule, timeZone ?? null, count ?? 5),
  }),
);
