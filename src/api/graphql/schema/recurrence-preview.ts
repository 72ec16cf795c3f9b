import {
  maxTimes,
  previewRecurrence,
  type RecurrencePreview,
} from '../../../domain/automations/schedule/preview-recurrence.ts';
import { builder } from '../builder.ts';

const RecurrencePreviewType = builder.objectRef<RecurrencePreview>('RecurrencePreview').implement({
  description: 'Times at which a recurrence rule would fire, or the problem with the rule.',
  fields: (t) => ({
    times: t.field({
      type: ['DateTime'],
      description: 'Next times at which the rule fires, in ascending order; empty if there is a problem.',
      resolve: ({ times }) => [...times],
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Reason why no automation can have the rule, as a sentence; null if the rule is valid.',
    }),
  }),
});

builder.queryField('recurrencePreview', (t) =>
  t.field({
    type: RecurrencePreviewType,
    description: 'Previews the times at which an automation created now with the rule would run. Nothing is stored.',
    // Finding one occurrence takes about as long as reading and writing ten items; so does validating the rule.
    extensions: { items: 'count', weight: 10 },
    args: {
      rule: t.arg.string({
        required: true,
        description: 'Recurrence rule (RRULE of RFC 5545), for example `FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0`.',
      }),
      timeZone: t.arg.string({
        description: 'IANA time zone in which the rule is evaluated, for example `Europe/Berlin`. Defaults to UTC.',
      }),
      count: t.arg.int({
        defaultValue: 5,
        description: 'Number of times to return, 1 to 20. Defaults to 5.',
        extensions: { limits: { min: 1, max: maxTimes } },
      }),
    },
    resolve: (_root, { rule, timeZone, count }, { domain }) =>
      previewRecurrence(domain, rule, timeZone ?? null, count ?? 5),
  }),
);
