import { settingsFields as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { FieldGroup } from './field-group.tsx';
import { MoreJson } from './more-json.tsx';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemOf, problemsIn } from './problems.ts';
import { moreSettings, type SettingsDraft } from './settings.ts';
import { limitsSummary, moreSummary, queueSummary, windowLabel, windows } from './settings-summary.ts';

interface SettingsFieldsProps {
  readonly settings: SettingsDraft;
  /** The problems of the whole automation. */
  readonly problems: Problems;
  readonly onChange: (settings: SettingsDraft) => void;
}

type NumberName = Exclude<keyof SettingsDraft, 'runAs' | 'missedRuns' | 'more'>;

interface NumberSetting {
  readonly name: NumberName;
  readonly label: string;
  readonly min: number;
  readonly max?: number;
  readonly placeholder: string;
  /** Its path in the API's input. */
  readonly path: readonly string[];
}

const acuLimit: NumberSetting = {
  name: 'maxAcuLimit',
  label: common.sessionAcuLimit,
  min: 1,
  max: 1_000,
  placeholder: common.noLimit,
  path: ['limits', 'maxAcuLimit'],
};
const maxRuns: NumberSetting = {
  name: 'maxPerWindow',
  label: texts.maxRuns,
  min: 1,
  placeholder: common.noLimit,
  path: ['limits', 'invocations', 'maxPerWindow'],
};
const queueNumbers: readonly NumberSetting[] = [
  {
    name: 'maxConcurrentRuns',
    label: common.maxConcurrentSessions,
    min: 1,
    placeholder: common.noLimit,
    path: ['concurrency', 'maxConcurrentRuns'],
  },
  {
    name: 'maxQueueDepth',
    label: texts.maxQueuedRuns,
    min: 0,
    placeholder: common.serviceDefault,
    path: ['concurrency', 'maxQueueDepth'],
  },
  {
    name: 'jitterSeconds',
    label: texts.randomDelaySeconds,
    min: 0,
    max: 900,
    placeholder: texts.noDelay,
    path: ['jitterSeconds'],
  },
];

const hourSeconds = '3600';

/** The settings of an automation besides its triggers and actions, in groups that are collapsed. */
export function SettingsFields({ settings, problems, onChange }: SettingsFieldsProps) {
  const set = (change: Partial<SettingsDraft>) => onChange({ ...settings, ...change });
  const { maxPerWindow, windowSeconds } = settings;
  const wrong = [problemOf(problems, 'more'), ...moreSettings.map((name) => problemOf(problems, name))];
  const moreProblem = wrong.filter((each) => each !== null).join(' ') || null;
  const limitsProblem = [
    problemBeside(problemsIn(problems, 'limits'), 'maxAcuLimit', 'invocations'),
    problemBeside(problemsIn(problems, 'limits', 'invocations'), 'maxPerWindow', 'windowSeconds'),
  ].flatMap((text) => text ?? []);
  const queueProblem = problemBeside(problemsIn(problems, 'concurrency'), 'maxConcurrentRuns', 'maxQueueDepth');
  const isWrong = (...names: readonly string[]) => names.some((name) => problemOf(problems, name) !== null);
  const number = ({ name, path, ...fieldProps }: NumberSetting, change?: (text: string) => Partial<SettingsDraft>) => (
    <TextField
      key={name}
      {...fieldProps}
      type="number"
      value={settings[name]}
      error={problemOf(problems, ...path)}
      onChange={({ target }) => set(change ? change(target.value) : { [name]: target.value })}
    />
  );
  return (
    <fieldset className="group-box">
      <legend>{texts.settings}</legend>
      <FieldGroup title={texts.limits} summary={limitsSummary(settings)} hasProblem={isWrong('limits')}>
        <div className="fields">
          {number(acuLimit)}
          {number(maxRuns, (text) => ({
            maxPerWindow: text,
            windowSeconds: text === '' ? '' : windowSeconds || hourSeconds,
          }))}
          <Select
            label={texts.runsWindow}
            disabled={maxPerWindow === ''}
            value={windowSeconds || hourSeconds}
            error={problemOf(problems, 'limits', 'invocations', 'windowSeconds')}
            onChange={({ target }) => set({ windowSeconds: target.value })}
          >
            {[...new Set([...Object.keys(windows), windowSeconds || hourSeconds])].map((seconds) => (
              <option value={seconds} key={seconds}>
                {windowLabel(seconds)}
              </option>
            ))}
          </Select>
        </div>
        {limitsProblem.length > 0 && <Problem text={limitsProblem.join(' ')} />}
      </FieldGroup>
      <FieldGroup
        title={texts.queue}
        summary={queueSummary(settings)}
        hasProblem={isWrong('concurrency', 'missedRuns', 'jitterSeconds')}
      >
        <div className="fields">
          {queueNumbers.map((setting) => number(setting))}
          <Select
            label={texts.missedRuns}
            value={settings.missedRuns}
            error={problemOf(problems, 'missedRuns')}
            onChange={({ target }) => set({ missedRuns: target.value })}
          >
            <option value="LATEST">{texts.runTheLatest}</option>
            <option value="SKIP">{texts.runNone}</option>
            <option value="ALL">{texts.runAll}</option>
          </Select>
        </div>
        {queueProblem && <Problem text={queueProblem} />}
      </FieldGroup>
      <FieldGroup
        title={texts.advanced}
        summary={moreSummary(settings)}
        hasProblem={isWrong('runAs') || moreProblem !== null}
      >
        <div className="fields">
          <Select
            label={texts.runAs}
            value={settings.runAs}
            error={problemOf(problems, 'runAs')}
            onChange={({ target }) => set({ runAs: target.value })}
          >
            <option value="ORGANIZATION">{common.organization}</option>
            <option value="CREATOR">{texts.creator}</option>
          </Select>
        </div>
        <MoreJson
          title={texts.otherSettings}
          hint={texts.otherSettingsHint({ settings: moreSettings.join(', ') })}
          value={settings.more}
          error={moreProblem}
          onChange={(more) => set({ more })}
        />
      </FieldGroup>
    </fieldset>
  );
}
