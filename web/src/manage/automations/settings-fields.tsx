import { settingsFields as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { Select, TextField } from '../../ui/field.tsx';
import { MoreJson } from './more-json.tsx';
import { Problem } from './problem.tsx';
import { type Problems, problemBeside, problemOf, problemsIn } from './problems.ts';
import { moreSettings, type SettingsDraft } from './settings.ts';

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

const numbers: readonly NumberSetting[] = [
  {
    name: 'maxAcuLimit',
    label: common.sessionAcuLimit,
    min: 1,
    max: 1_000,
    placeholder: common.noLimit,
    path: ['limits', 'maxAcuLimit'],
  },
  {
    name: 'maxPerWindow',
    label: texts.maxRuns,
    min: 1,
    placeholder: common.noLimit,
    path: ['limits', 'invocations', 'maxPerWindow'],
  },
  {
    name: 'windowSeconds',
    label: texts.runsWindow,
    min: 60,
    placeholder: '3600',
    path: ['limits', 'invocations', 'windowSeconds'],
  },
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

/** The settings of an automation besides its triggers and actions. */
export function SettingsFields({ settings, problems, onChange }: SettingsFieldsProps) {
  const set = (change: Partial<SettingsDraft>) => onChange({ ...settings, ...change });
  const wrong = [problemOf(problems, 'more'), ...moreSettings.map((name) => problemOf(problems, name))];
  const beside = [
    problemBeside(problemsIn(problems, 'limits'), 'maxAcuLimit', 'invocations'),
    problemBeside(problemsIn(problems, 'limits', 'invocations'), 'maxPerWindow', 'windowSeconds'),
    problemBeside(problemsIn(problems, 'concurrency'), 'maxConcurrentRuns', 'maxQueueDepth'),
  ].flatMap((text) => text ?? []);
  const hasWindow = settings.maxPerWindow !== '' || settings.windowSeconds !== '';
  return (
    <fieldset className="group-box">
      <legend>{texts.settings}</legend>
      <div className="fields">
        {numbers.map(({ name, path, ...fieldProps }) => (
          <TextField
            key={name}
            {...fieldProps}
            type="number"
            required={hasWindow && path.includes('invocations')}
            value={settings[name]}
            error={problemOf(problems, ...path)}
            onChange={({ target }) => set({ [name]: target.value })}
          />
        ))}
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
      {beside.length > 0 && <Problem text={beside.join(' ')} />}
      <MoreJson
        title={texts.otherSettings}
        hint={texts.otherSettingsHint({ settings: moreSettings.join(', ') })}
        value={settings.more}
        error={wrong.filter((each) => each !== null).join(' ') || null}
        onChange={(more) => set({ more })}
      />
    </fieldset>
  );
}
