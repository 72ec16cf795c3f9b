/** A tool as a request offers it. */
export interface OfferedTool {
  readonly name: string;
  readonly schema: Schema;
  /** Named in the call too, where there is one. */
  readonly namespace?: string;
}

/** As much of JSON Schema as tools' arguments need. Gemini writes the types in capitals. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
}

/** What every API's request says, in one form. */
export interface Conversation {
  readonly model: string;
  /** In order. `tool` is the answer to one call; what is said to the model apart from the user's words is left out. */
  readonly turns: readonly { readonly role: 'user' | 'assistant' | 'tool'; readonly text: string }[];
  readonly tools: readonly OfferedTool[];
  /** The shape that the answer must have, where one is asked for. */
  readonly answerSchema: Schema | null;
}

/** What the model answers: words, and then perhaps one call of a tool. */
export interface Reply {
  readonly text: string;
  readonly call: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly args: Record<string, unknown>;
  } | null;
  /** The name under which this answer is kept back until the test lets it go. */
  readonly hold: string | null;
}

/** What agents call their tools. */
const toolNames = {
  write: /^(write|write_file|create_file)$/i,
  shell: /^(bash|shell|run_shell_command|shell_command|exec_command|local_shell)$/i,
} as const;

/**
 * What the model answers. It does the lines `do: …` at the end of the user's last message, one after another; how far it is
 * it sees from the answers of tools since. So it needs no memory, and goes on after an agent was killed:
 * `do: say TEXT`, `do: write PATH TEXT`, `do: shell COMMAND`, `do: tool NAME {arguments}` (a name's end is enough),
 * `do: hold NAME`.
 */
export function replyTo(conversation: Conversation): Reply {
  const nothing = { text: '', call: null, hold: null };
  if (conversation.answerSchema) return { ...nothing, text: JSON.stringify(fill(conversation.answerSchema, {})) };
  // Requests beside the work, for a title or a summary, offer no tools.
  if (conversation.tools.length === 0) return { ...nothing, text: 'A title of the fake model' };
  const at = conversation.turns.findLastIndex(({ role }) => role === 'user');
  const steps = stepsOf(conversation.turns[at]?.text ?? '');
  const done = conversation.turns.slice(at + 1).filter(({ role }) => role === 'tool').length;
  const answers = steps.reduce<Answer[]>(collect, [emptyAnswer()]);
  const answer = answers[done];
  if (!answer || steps.length === 0) return { ...nothing, text: 'There is nothing left to do.' };
  return { text: answer.say.join('\n'), call: callOf(answer, conversation.tools), hold: answer.hold };
}

// Only those at the end: what stands before (a digest, a message that was interrupted) is done already or comes again.
function stepsOf(text: string): RegExpMatchArray[] {
  const lines = text.split('\n');
  const before = lines.findLastIndex((line) => line.trim() !== '' && !line.startsWith('do: '));
  return lines
    .slice(before + 1)
    .map((line) => line.match(/^do: *(\w+) *(.*)$/))
    .filter((match) => match !== null);
}

interface Answer {
  say: string[];
  hold: string | null;
  act: { verb: string; rest: string } | null;
}

const emptyAnswer = (): Answer => ({ say: [], hold: null, act: null });

// A call of a tool ends an answer; what stands behind the last one is the last answer.
function collect(answers: Answer[], [, verb = '', rest = '']: RegExpMatchArray): Answer[] {
  const answer = answers.at(-1) as Answer;
  if (verb === 'say') answer.say.push(rest);
  else if (verb === 'hold') answer.hold = rest;
  else {
    answer.act = { verb, rest };
    answers.push(emptyAnswer());
  }
  return answers;
}

function callOf({ act }: Pick<Answer, 'act'>, tools: readonly OfferedTool[]): Reply['call'] {
  if (!act) return null;
  const [, first = '', rest = ''] = /^(\S+) ?(.*)$/.exec(act.rest) ?? [];
  switch (act.verb) {
    case 'write': {
      const tool = tools.find(({ name }) => toolNames.write.test(name));
      if (tool) return { name: tool.name, args: fill(tool.schema, { path: first, content: rest }) };
      // Codex has none for it.
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

/** Arguments for a schema: the values where their names fit, and anything valid for what else is required. */
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
