import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { AgentProfile } from '../../src/agents/agent.ts';
import { crashOf, type LaunchOptions, launchAgent, makeDirs, text } from '../support/agents.ts';
import { optionCommand } from '../support/programs.ts';

const model = {
  id: 'model',
  name: 'Model',
  category: 'model',
  type: 'select',
  currentValue: 'small',
  options: ['small', 'large', 'refused', 'silent', 'fatal'].map((value) => ({ value, name: value })),
};
const fast = { id: 'fast', name: 'Fast', type: 'boolean', currentValue: false };
const modes = {
  currentModeId: 'act',
  availableModes: [
    { id: 'act', name: 'Act' },
    { id: 'plan', name: 'Plan' },
  ],
};
const models = {
  currentModelId: 'm1',
  availableModels: [
    { modelId: 'm1', name: 'One' },
    { modelId: 'm2', name: 'Two' },
  ],
};

async function launch(state: object, profile: Partial<AgentProfile> = {}, options: LaunchOptions = {}) {
  const dirs = makeDirs();
  const file = join(dirs.homeDir, 'options.json');
  writeFileSync(file, JSON.stringify(state));
  const launched = await launchAgent({ command: optionCommand(file), ...profile }, { ...options, dirs });
  await launched.agent.open(null);
  const current = () =>
    Object.fromEntries(launched.agent.offer().options.map(({ id, currentValue }) => [id, currentValue]));
  return { ...launched, current };
}

it('reads the options that an agent offers, and sets them', async () => {
  const { agent, current, messages } = await launch({ configOptions: [model, fast], modes });
  expect(agent.version).toBe('options 1');
  expect(current()).toEqual({ model: 'small', fast: 'false', mode: 'act' });
  await agent.setOption('model', 'large');
  await agent.setOption('fast', 'true');
  await agent.setOption('mode', 'plan');
  expect(current()).toEqual({ model: 'large', fast: 'true', mode: 'plan' });
  await agent.prompt(text('values'));
  expect(messages().map((each) => JSON.parse(each))).toEqual([{ model: 'large', fast: true, mode: 'plan' }]);
});

it('sets the modes and models of an older agent by their own requests', async () => {
  const { agent, current, messages } = await launch({ modes, models });
  expect(agent.offer().options.map(({ id, category }) => [id, category])).toEqual([
    ['mode', 'mode'],
    ['model', 'model'],
  ]);
  await agent.setOption('model', 'm2');
  await agent.setOption('mode', 'plan');
  await agent.prompt(text('values\nmode act'));
  expect(messages()).toEqual([JSON.stringify({ mode: 'plan', model: 'm2' })]);
  expect(current()).toEqual({ mode: 'act', model: 'm2' });
});

it('starts from the profile’s settings', async () => {
  const { current } = await launch({ configOptions: [model], modes }, { config: { model: 'large' }, mode: 'plan' });
  expect(current()).toEqual({ model: 'large', mode: 'plan' });
});

it('follows an agent that changes its options in the middle of a turn', async () => {
  const { agent, current } = await launch({ configOptions: [model, fast], modes });
  const effort = {
    id: 'effort',
    name: 'Effort',
    type: 'select',
    currentValue: 'low',
    options: [{ value: 'low', name: 'Low' }],
  };
  await agent.prompt(text(`update ${JSON.stringify([{ ...model, currentValue: 'large' }, effort])}`));
  expect(current()).toEqual({ model: 'large', effort: 'low', mode: 'act' });
});

it('reports refusals, silence and an end of the agent in time', async () => {
  const { agent, current } = await launch({ configOptions: [model] }, {}, { timeouts: { optionMs: 300 } });
  const reasonOf = async (id: string, value: string) => (await crashOf(agent.setOption(id, value))).message;
  expect(await reasonOf('effort', 'high')).toBe('The agent offers no option "effort".');
  expect(await reasonOf('model', 'huge')).toBe('The agent offers no value "huge" of the option "model".');
  expect(await reasonOf('model', 'refused')).toBe(
    'The agent refused "session/set_config_option": no such value: none.',
  );
  expect(await reasonOf('model', 'silent')).toBe('The agent did not answer "session/set_config_option" within 0.3 s.');
  expect(current()).toEqual({ model: 'small' });
  expect(await reasonOf('model', 'fatal')).toBe('The agent process ended unexpectedly (exit code 1).');
});

it('reads no more of a hostile offer than its limits', async () => {
  const many = Array.from({ length: 10_000 }, (_, n) => ({ ...model, id: `o${n}`, options: [] }));
  const hostile = [
    { ...model, options: [{ value: 'v'.repeat(1_000_000) }, { value: 'ok', name: 'n'.repeat(1_000_000) }] },
    { ...model, id: 'i'.repeat(1_000_000) },
    { ...model, id: 'line\nbreak' },
    { ...model, id: 'markup', name: '<b>Bold</b>\u0000\u202e\n', currentValue: { an: 'object' }, options: 'none' },
    { ...model, id: 'big', options: Array.from({ length: 9_000 }, (_, n) => ({ value: `v${n}`, name: 'x' })) },
    { id: 'big' },
    ...many,
  ];
  const { agent } = await launch({ configOptions: hostile });
  const offer = agent.offer();
  const byId = new Map(offer.options.map((option) => [option.id, option]));
  expect(offer.hasMoreOptions).toBe(true);
  expect(offer.options.length).toBeLessThanOrEqual(50);
  expect(JSON.stringify(offer).length).toBeLessThan(200_000);
  expect(byId.get('model')?.values).toEqual([{ value: 'ok', name: `${'n'.repeat(199)}…`, description: null }]);
  expect(byId.get('model')?.hasMoreValues).toBe(true);
  expect(byId.get('markup')).toMatchObject({ name: '<b>Bold</b>\uFFFD', currentValue: '', values: [] });
  expect(byId.get('big')).toMatchObject({ hasMoreValues: true });
  expect(byId.get('big')?.values).toHaveLength(500);
  expect([...byId.keys()].filter((id) => id.length > 200 || id.includes('\n'))).toEqual([]);
  // A value that may have been left out is the agent's to check.
  await agent.setOption('model', 'unlisted');
});
