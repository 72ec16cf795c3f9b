import { Suspense, useDeferredValue, useState } from 'react';
import { graphql, useLazyLoadQuery } from 'react-relay';
import type { ruleFieldsQuery } from '../../__generated__/ruleFieldsQuery.graphql.ts';
import { ruleFields as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { dateFormat } from '../../ui/date.ts';
import { Select, TextArea, TextField } from '../../ui/field.tsx';
import { Picker } from '../../ui/picker.tsx';
import { problemText } from '../../ui/problem-text.ts';
import type { ChoiceSource } from '../../ui/use-choices.ts';
import { type RuleFields as Fields, isTimed, ruleProblem, weekdays, writeRule } from './rule.ts';
import { ruleText } from './rule-text.ts';

interface RuleFieldsProps {
  readonly fields: Fields;
  readonly timeZone: string;
  /** The service's error for the rule when it was saved. */
  readonly error: string | null;
  readonly zoneError: string | null;
  readonly onChange: (fields: Fields) => void;
  readonly onTimeZone: (timeZone: string) => void;
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
const readZones: ChoiceSource = async () => ({
  choices: zones.map((zone) => ({ value: zone, label: zone })),
  next: null,
});

/** The fields of a schedule, with a preview of the next three occurrences from the service. */
export function RuleFields({ fields, timeZone, error, zoneError, onChange, onTimeZone }: RuleFieldsProps) {
  const { every, interval, time, days, dayOfMonth, own } = fields;
  const set = (change: Partial<Fields>) => onChange({ ...fields, ...change });
  const shown = useDeferredValue(fields);
  const problem = ruleProblem(shown);
  const rule = writeRule(shown);
  // A rule is not wrong while it is typed.
  const [isTyping, setTyping] = useState(false);
  const zone = useDeferredValue(timeZone);
  const words = ruleText(rule, zone);
  return (
    <>
      <div className="fields">
        <Select
          label={texts.frequency}
          value={every}
          error={every === 'own' ? null : error}
          onChange={(event) => {
            const chosen = event.target.value as Fields['every'];
            set({
              every: chosen,
              interval: chosen === 'minutes' ? 30 : 1,
              ...(chosen === 'week' && every === 'weekdays' ? { days: ['MO'] } : {}),
              ...(chosen === 'own' ? { own: writeRule(fields) } : {}),
            });
          }}
        >
          <option value="minutes">{texts.everyFewMinutes}</option>
          <option value="hours">{texts.hourly}</option>
          <option value="day">{texts.daily}</option>
          <option value="weekdays">{texts.weekdays}</option>
          <option value="week">{texts.weekly}</option>
          <option value="month">{texts.monthly}</option>
          <option value="own">{texts.customRule}</option>
        </Select>
        {every !== 'own' && every !== 'weekdays' && (
          <TextField
            label={
              {
                minutes: texts.intervalMinutes,
                hours: texts.intervalHours,
                day: texts.intervalDays,
                week: texts.intervalWeeks,
                month: texts.intervalMonths,
              }[every]
            }
            type="number"
            min={every === 'minutes' ? 15 : 1}
            max={1_000}
            value={interval}
            onChange={(event) => set({ interval: Math.max(1, Math.round(Number(event.target.value))) })}
          />
        )}
        {every === 'hours' && (
          <TextField
            label={texts.minute}
            type="number"
            min={0}
            max={59}
            value={Number(time.slice(3))}
            onChange={(event) => set({ time: `00:${event.target.value.padStart(2, '0')}` })}
          />
        )}
        {isTimed(fields) && (
          <TextField
            label={common.time}
            type="time"
            required
            value={time}
            onChange={(event) => set({ time: event.target.value })}
          />
        )}
        {every === 'month' && (
          <Select
            label={texts.dayOfTheMonth}
            value={dayOfMonth}
            onChange={(event) => set({ dayOfMonth: Number(event.target.value) })}
          >
            {Array.from({ length: 31 }, (_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: they are days of a month.
              <option value={index + 1} key={index}>
                {index + 1}
              </option>
            ))}
            <option value={-1}>{texts.lastDay}</option>
          </Select>
        )}
        <Picker
          label={texts.timeZone}
          source={readZones}
          value={timeZone}
          valueLabel={timeZone}
          error={zoneError}
          onChange={onTimeZone}
        />
      </div>
      {every === 'week' && (
        <fieldset className="inline-boxes">
          <legend>{texts.days}</legend>
          {weekdays.map(([day, label]) => (
            <label className="check" key={day}>
              <input
                type="checkbox"
                checked={days.includes(day)}
                onChange={(event) =>
                  set({ days: event.target.checked ? [...days, day] : days.filter((each) => each !== day) })
                }
              />
              {label}
            </label>
          ))}
        </fieldset>
      )}
      {every === 'own' && (
        <TextArea
          label={texts.rule}
          rows={3}
          spellCheck={false}
          required
          value={own}
          hint={texts.ruleHint}
          error={error}
          onChange={(event) => {
            setTyping(true);
            set({ own: event.target.value });
          }}
          onBlur={() => setTyping(false)}
        />
      )}
      <section className="preview-times" aria-label={texts.nextRuns}>
        {problem !== null ? (
          <p role="status">{problem}</p>
        ) : (
          <>
            {words !== null && <p className="rule-words">{words}</p>}
            <Suspense fallback={<p className="soft">{texts.loadingNextRuns}</p>}>
              <NextTimes rule={rule} timeZone={zone} isTyping={isTyping && every === 'own'} shownProblem={error} />
            </Suspense>
          </>
        )}
      </section>
    </>
  );
}

interface NextTimesProps {
  readonly rule: string;
  readonly timeZone: string;
  /** True while the rule may be incomplete: its problem is no error yet. */
  readonly isTyping: boolean;
  /** A problem that the form shows already. */
  readonly shownProblem: string | null;
}

function NextTimes({ rule, timeZone, isTyping, shownProblem }: NextTimesProps) {
  const { recurrencePreview } = useLazyLoadQuery<ruleFieldsQuery>(
    graphql`
      query ruleFieldsQuery($rule: String!, $timeZone: String) {
        recurrencePreview(rule: $rule, timeZone: $timeZone, count: 3) {
          times
          problem
        }
      }
    `,
    { rule, timeZone: timeZone === 'UTC' ? null : timeZone },
  );
  const { problem } = recurrencePreview;
  if (problem) {
    if (isSameProblem(problem, shownProblem)) return null;
    if (isTyping) return <p role="status">{problemText(problem)}</p>;
    return (
      <p className="problem" role="alert">
        {problemText(problem)}
      </p>
    );
  }
  return <Times times={recurrencePreview.times} timeZone={timeZone} />;
}

// The two were computed at different times, so their example times differ.
function isSameProblem(problem: string, shownProblem: string | null): boolean {
  const [kind = problem] = problem.split(':');
  return shownProblem?.includes(kind) ?? false;
}

/** Times in the local time of a zone. */
export function Times({ times, timeZone }: { readonly times: readonly string[]; readonly timeZone: string }) {
  const format = dateFormat({ dateStyle: 'full', timeStyle: 'short', timeZone });
  return (
    <ol className="times">
      {times.map((at) => (
        <li key={at}>
          <time dateTime={at}>{format.format(new Date(at))}</time>
        </li>
      ))}
    </ol>
  );
}
