/** A tool in a request. */
export interface OfferedTool {
  readonly name: string;
  readonly schema: Schema;
  /** The namespace, which the call must name too, if there is one. */
  readonly namespace?: string;
}

/** The part of JSON Schema that tool arguments need. Gemini writes types in upper case. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
}

/** The request of any API in one form. */
export interface Conversation {
  readonly model: string;
  /** In order. `tool` is the result of one call; text for the model that is not the user's is omitted. */
  readonly turns: readonly { readonly role: 'user' | 'assistant' | 'tool'; readonly text: string }[];
  readonly tools: readonly OfferedTool[];
  /** The schema that the answer must satisfy, if the request has one. */
  readonly answerSchema: Schema | null;
}

/** The model's answer: text, and optionally a call of one tool. */
export interface Reply {
  readonly text: string;
  readonly call: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly args: Record<string, unknown>;
  } | null;
  /** The name under which this answer waits until the test releases it. */
  readonly hold: string | null;
  /** Time in ms between two events of a streamed answer. */
  readonly paceMs: number;
  /** The name under which a streamed answer waits after the first half of its text. */
  readonly pause: string | null;
}

/** The agents' names for common tools. */
const toolNames = {
  write: /^(write|write_file|create_file)$/i,
  shell: /^(bash|shell|run_shell_command|shell_command|exec_command|local_shell)$/i,
} as const;

/**
 * Returns the model's answer. The model runs the lines `do: …` at the end of the user's last message, or else those that it quotes
 * as `> do: …`, in sequence; the number
 * of tool results after that message shows how many are done. So it needs no memory, and continues after an agent was killed:
 * `do: say TEXT`, `do: write PATH TEXT`, `do: shell COMMAND`, `do: tool NAME {arguments}` (the end of a name is enough),
 * `do: quote TEXT` (says the lines of the last result that contain the text), `do: hold NAME`, `do: pause NAME`, `do: pace MS` (the time between two parts of the answer).
 */
export function replyTo(conversation: Conversation): Reply {
  const nothing = { text: '', call: null, hold: null, pause: null, paceMs: 0 };
  if (conversation.answerSchema) return { ...nothing, text: JSON.stringify(fill(conversation.answerSchema, {})) };
  // Additional requests, for a title or a summary, offer no tools.
  if (conversation.tools.length === 0) return { ...nothing, text: 'A title of the fake model' };
  const at = conversation.turns.findLastIndex(({ role }) => role === 'user');
  const steps = stepsOf(conversation.turns[at]?.text ?? '');
  const done = conversation.turns.slice(at + 1).filter(({ role }) => role === 'tool').length;
  const answers = steps.reduce<Answer[]>(collect, [emptyAnswer()]);
  const answer = answers[done];
  if (!answer || steps.length === 0) return { ...nothing, text: 'There is nothing left to do.' };
  const { hold, pause, paceMs } = answer;
  const result = conversation.turns.at(-1)?.text ?? '';
  return {
    text: answer.say.map((each) => each(result)).join('\n'),
    call: callOf(answer, conversation.tools),
    hold,
    pause,
    paceMs,
  };
}

// Only the lines at the end: earlier ones (a digest, an interrupted message) are done or come again. The text of a reviewer is quoted.
function stepsOf(text: string): RegExpMatchArray[] {
  const lines = text.split('\n');
  const before = lines.findLastIndex((line) => line.trim() !== '' && !line.startsWith('do: '));
  const atEnd = lines.slice(before + 1).filter((line) => line.startsWith('do: '));
  const quoted = lines.filter((line) => line.startsWith('> do: ')).map((line) => line.slice('> '.length));
  return (atEnd.length > 0 ? atEnd : quoted)
    .map((line) => line.match(/^do: *(\w+) *(.*)$/))
    .filter((match) => match !== null);
}

interface Answer {
  /** Functions of the last result of a tool. */
  say: ((result: string) => string)[];
  hold: string | null;
  pause: string | null;
  paceMs: number;
  act: { verb: string; rest: string } | null;
}

const emptyAnswer = (): Answer => ({ say: [], hold: null, pause: null, paceMs: 0, act: null });

// A tool call ends an answer; text after the last call is the last answer.
function collect(answers: Answer[], [, verb = '', rest = '']: RegExpMatchArray): Answer[] {
  const answer = answers.at(-1) as Answer;
  if (verb === 'say') answer.say.push(() => rest);
  else if (verb === 'quote') answer.say.push((result) => linesWith(result, rest));
  else if (verb === 'hold') answer.hold = rest;
  else if (verb === 'pause') answer.pause = rest;
  else if (verb === 'pace') answer.paceMs = Number(rest);
  else {
    answer.act = { verb, rest };
    answers.push(emptyAnswer());
  }
  return answers;
}

// Some agents give results as JSON, with escaped line breaks.
const linesWith = (result: string, text: string) =>
  result
    .split(/\r?\n|\\r|\\n/)
    .filter((line) => line.includes(text))
    .join('\n');

function callOf({ act }: Pick<Answer, 'act'>, tools: readonly OfferedTool[]): Reply['call'] {
  if (!act) return null;
  const [, first = '', rest = ''] = /^(\S+) ?(.*)$/.exec(act.rest) ?? [];
  switch (act.verb) {
    case 'write': {
      const tool = tools.find(({ name }) => toolNames.write.test(name));
      if (tool) return { name: tool.name, args: fill(tool.schema, { path: first, content: rest }) };
      // Codex has no such tool.
      return callOf({ act: { verb: 'shell', rest: `echo '${rest}' > ${first}` } }, tools);
    }
    case 'shell': {
      const tool = requireTool(tools, ({ name }) => toolNames.shell.test(name), 'a shell');
      return { name: tool.name, args: fill(tool.schema, { command: act.rest }) };
    }
    case 'tool': {
      const tool = requireTool(tools, ({ name }) => name.endsWith(first), first);
      return { name: tool.name, namespace: tool.namespace, args: JSON.parse(rest || '{}') };
    }
    default:
      throw new Error(`The fake model does not know "do: ${act.verb}".`);
  }
}

function requireTool(
  tools: readonly OfferedTool[],
  isWanted: (tool: OfferedTool) => boolean,
  what: string,
): OfferedTool {
  const tool = tools.find(isWanted);
  if (!tool) throw new Error(`No ${what} among the tools: ${tools.map(({ name }) => name).join(', ')}.`);
  return tool;
}

type Values = { path?: string; content?: string; command?: string };

/** Returns arguments for a schema: the values whose names fit, and valid values for other required members. */
function fill(schema: Schema, values: Values): Record<string, unknown> {
  const properties = Object.entries(schema.properties ?? {});
  const filled = properties.flatMap(([name, property]): [string, unknown][] => {
    const valueForName = valueFor(name, values, property);
    if (valueForName !== undefined) return [[name, valueForName]];
    return schema.required?.includes(name) ? [[name, anything(property)]] : [];
  });
  return Object.fromEntries(filled);
}

function valueFor(name: string, { path, content, command }: Values, schema: Schema): unknown {
  if (/^(absolute_?|file_?)?path$/i.test(name)) return path;
  if (/^(content|file_text|contents)$/i.test(name)) return content;
  if (!/^(command|cmd)$/i.test(name) || command === undefined) return undefined;
  return typeOf(schema) === 'array' ? ['bash', '-c', command] : command;
}

function typeOf({ type }: Schema): string {
  return (typeof type === 'string' ? type : (type?.[0] ?? 'string')).toLowerCase();
}

function anything(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0];
  const byType: Record<string, unknown> = { number: 1, integer: 1, boolean: false, array: [] };
  const type = typeOf(schema);
  return type === 'object' ? fill(schema, {}) : (byType[type] ?? 'as the fake model likes it');
}
