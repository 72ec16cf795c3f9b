import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

// An ACP agent in a separate program that offers options. Its argument names a file with the `modes`, `models` and `configOptions`
// of its sessions. It sets every value, except that it refuses "refused", never answers for "silent", and ends for "fatal".
// The lines of a prompt are commands: `values` writes the current values, `ask` asks the user, `update JSON` replaces the options
// in the middle of the turn, `flood N` changes the first one N times, `mode ID` changes the mode.

const state = JSON.parse(readFileSync(process.argv[2] as string, 'utf8'));
const answers = new Map<string, () => void>();
let questions = 0;

function put(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

const update = (sessionUpdate: object) =>
  put({ method: 'session/update', params: { sessionId: 's1', update: sessionUpdate } });

const say = (text: string) =>
  update({ sessionUpdate: 'agent_message_chunk', messageId: `${Math.random()}`, content: { type: 'text', text } });

function values(): string {
  const { configOptions = [], modes, models } = state;
  const options = configOptions.map((each: any) => [each.id, each.currentValue]);
  return JSON.stringify({
    ...Object.fromEntries(options),
    ...(modes && { mode: modes.currentModeId }),
    ...(models && { model: models.currentModelId }),
  });
}

async function run(line: string): Promise<void> {
  const [command = '', rest = ''] = line.split(/ (.*)/s);
  if (command === 'values') say(values());
  if (command === 'update') {
    state.configOptions = JSON.parse(rest);
    update({ sessionUpdate: 'config_option_update', configOptions: state.configOptions });
  }
  for (let n = 0; command === 'flood' && n < Number(rest); n++) {
    const [first, ...others] = state.configOptions;
    state.configOptions = [{ ...first, currentValue: first.options[n % 2].value }, ...others];
    update({ sessionUpdate: 'config_option_update', configOptions: state.configOptions });
  }
  if (command === 'mode') {
    state.modes.currentModeId = rest;
    update({ sessionUpdate: 'current_mode_update', currentModeId: rest });
  }
  if (command !== 'ask') return;
  const id = `q${++questions}`;
  const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } } };
  const answered = new Promise<void>((resolve) => answers.set(id, resolve));
  put({
    id,
    method: 'elicitation/create',
    params: { mode: 'form', sessionId: 's1', message: 'Well?', requestedSchema },
  });
  await answered;
}

const isRefused = (id: number, value: unknown): boolean => {
  if (value === 'refused')
    put({ id, error: { code: -32_602, message: `no such value: ${process.env.TEST_SECRET ?? 'none'}` } });
  if (value === 'fatal') process.exit(1);
  return value === 'refused' || value === 'silent';
};

createInterface({ input: process.stdin }).on('line', async (text) => {
  const { id, method, params } = JSON.parse(text);
  if (method === undefined) answers.get(id)?.();
  else if (method === 'initialize') {
    const agentInfo = { name: 'options', version: state.version ?? '1' };
    put({ id, result: { protocolVersion: 1, agentInfo, agentCapabilities: {} } });
  } else if (method === 'session/new') {
    const { configOptions, modes, models } = state;
    put({ id, result: { sessionId: 's1', configOptions, modes, models } });
  } else if (method === 'session/set_config_option') {
    if (isRefused(id, params.value)) return;
    const option = state.configOptions.find((each: any) => each.id === params.configId);
    option.currentValue = params.value;
    put({ id, result: { configOptions: state.configOptions } });
  } else if (method === 'session/set_mode') {
    state.modes.currentModeId = params.modeId;
    put({ id, result: {} });
  } else if (method === 'session/set_model') {
    state.models.currentModelId = params.modelId;
    put({ id, result: {} });
  } else if (method === 'session/prompt') {
    const blocks = params.prompt.filter((block: any) => block.annotations?.audience === undefined);
    for (const { text: prompt } of blocks) for (const line of prompt.split('\n')) await run(line);
    put({ id, result: { stopReason: 'end_turn' } });
  }
});
