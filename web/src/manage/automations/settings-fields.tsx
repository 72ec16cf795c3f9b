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
    label: 'ACUs of a session at most',
    min: 1,
    max: 1_000,
    placeholder: 'No limit of its own',
    path: ['limits', 'maxAcuLimit'],
  },
  {
    name: 'maxPerWindow',
    label: 'Acts at most so often …',
    min: 1,
    placeholder: 'Any number of times',
    path: ['limits', 'invocations', 'maxPerWindow'],
  },
  {
    name: 'windowSeconds',
    label: '… in so many seconds',
    min: 60,
    placeholder: '3600 is an hour',
    path: ['limits', 'invocations', 'windowSeconds'],
  },
  {
    name: 'maxConcurrentRuns',
    label: 'Sessions at once at most',
    min: 1,
    placeholder: 'Any number',
    path: ['concurrency', 'maxConcurrentRuns'],
  },
  {
    name: 'maxQueueDepth',
    label: 'Waiting for those at most',
    min: 0,
    placeholder: 'As the service has it',
    path: ['concurrency', 'maxQueueDepth'],
  },
  {
    name: 'jitterSeconds',
    label: 'Later than its times by at most (seconds)',
    min: 0,
    max: 900,
    placeholder: 'On time',
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
      <legend>How much, and whose</legend>
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
          label="Times that were missed"
          value={settings.missedRuns}
          error={problemOf(problems, 'missedRuns')}
          onChange={({ target }) => set({ missedRuns: target.value })}
        >
          <option value="LATEST">The last one is made up for</option>
          <option value="SKIP">None is made up for</option>
          <option value="ALL">Each is made up for</option>
        </Select>
        <Select
          label="Whose its sessions are"
          value={settings.runAs}
          error={problemOf(problems, 'runAs')}
          onChange={({ target }) => set({ runAs: target.value })}
        >
          <option value="ORGANIZATION">The organization’s</option>
          <option value="CREATOR">The user’s who made it</option>
        </Select>
      </div>
      {beside.length > 0 && <Problem text={beside.join(' ')} />}
      <MoreJson
        title="More of the automation"
        hint={`${moreSettings.join(', ')}: kept and given back.`}
        value={settings.more}
        error={wrong.filter((each) => each !== null).join(' ') || null}
        onChange={(more) => set({ more })}
      />
    </fieldset>
  );
}
