import type { Conversation, OfferedTool, Reply, Schema } from './script.ts';

/** Counts the tokens of one call by a rule that both sides of a test share. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** One provider's API: the format of its requests and responses. */
export interface Dialect {
  readonly name: 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';
  readonly isMine: (path: string) => boolean;
  /** The header with the caller's key. */
  readonly readKey: (headers: Headers, url: URL) => string | null;
  readonly isStreamed: (body: any, path: string) => boolean;
  readonly parse: (body: any, path: string) => Conversation;
  /** The events of a streamed response; `event` if the API names them. Each of {@link piecesOf} the text is one event. */
  readonly stream: (reply: Reply, tokens: Tokens, model: string) => readonly { event?: string; data: unknown }[];
  readonly complete: (reply: Reply, tokens: Tokens, model: string) => unknown;
}

type Turn = Conversation['turns'][number];

const bearer = (headers: Headers) => /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1] ?? null;
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : ((content ?? []) as { text?: string }[]).map(({ text }) => text ?? '').join('\n');
/** Splits a text into chunks like a model that streams; a chunk may end inside a word. */
export const piecesOf = (text: string) => text.match(/[\s\S]{1,7}/g) ?? [];

const chatChunk = (model: string, rest: object) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model,
  ...rest,
});
const chatUsage = ({ input, output }: Tokens) => ({
  'prompt_tokens': input,
  'completion_tokens': output,
  'total_tokens': input + output,
});
const chatCall = ({ name, args }: NonNullable<Reply['call']>) => ({
  id: newId('call'),
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

const openaiChat: Dialect = {
  name: 'openai-chat',
  isMine: (path) => path.endsWith('/chat/completions'),
  readKey: bearer,
  isStreamed: (body) => body.stream === true,
  parse: (body) => ({
    model: body.model,
    turns: body.messages
      .filter(({ role }: Turn) => ['user', 'assistant', 'tool'].includes(role))
      .map(({ role, content }: any) => ({ role, text: textOf(content) })),
    tools: (body.tools ?? []).map((tool: any) => toolOf(tool.function)),
    answerSchema: body.response_format?.json_schema?.schema ?? null,
  }),
  stream({ text, call }, tokens, model) {
    const choice = (delta: object, reason: string | null = null) => ({
      data: chatChunk(model, { choices: [{ index: 0, delta, 'finish_reason': reason }] }),
    });
    return [
      choice({ role: 'assistant', content: '' }),
      ...piecesOf(text).map((content) => choice({ content })),
      ...(call ? [choice({ 'tool_calls': [{ index: 0, ...chatCall(call) }] })] : []),
      choice({}, call ? 'tool_calls' : 'stop'),
      { data: chatChunk(model, { choices: [], usage: chatUsage(tokens) }) },
      { data: '[DONE]' },
    ];
  },
  complete: ({ text, call }, tokens, model) => ({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, ...(call && { 'tool_calls': [chatCall(call)] }) },
        'finish_reason': call ? 'tool_calls' : 'stop',
      },
    ],
    usage: chatUsage(tokens),
  }),
};

const responsesOutput = ({ text, call }: Reply): any[] => [
  ...(text
    ? [
        {
          type: 'message',
          id: newId('msg'),
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]
    : []),
  ...(call
    ? [
        {
          type: 'function_call',
          id: newId('fc'),
          'call_id': newId('call'),
          name: call.name,
          ...(call.namespace && { namespace: call.namespace }),
          arguments: JSON.stringify(call.args),
          status: 'completed',
        },
      ]
    : []),
];
const responsesComplete = (reply: Reply, { input, output }: Tokens, model: string) => ({
  id: newId('resp'),
  object: 'response',
  'created_at': 1,
  model,
  status: 'completed',
  output: responsesOutput(reply),
  usage: {
    'input_tokens': input,
    'output_tokens': output,
    'total_tokens': input + output,
    'input_tokens_details': { 'cached_tokens': 0 },
    'output_tokens_details': { 'reasoning_tokens': 0 },
  },
});

// Codex puts the tools of an MCP server into a separate namespace.
const responsesTools = ({ type, name, tools, ...rest }: any): OfferedTool[] => {
  if (type === 'function') return [toolOf({ name, ...rest })];
  return type === 'namespace'
    ? tools.flatMap(responsesTools).map((tool: OfferedTool) => ({ ...tool, namespace: name }))
    : [];
};

const openaiResponses: Dialect = {
  name: 'openai-responses',
  isMine: (path) => path.endsWith('/responses'),
  readKey: bearer,
  isStreamed: (body) => body.stream === true,
  parse: (body) => ({
    model: body.model,
    turns: (typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input).flatMap(
      (item: any): Turn[] => {
        if (item.type === 'function_call_output') return [{ role: 'tool', text: textOf(item.output) }];
        return item.role === 'user' || item.role === 'assistant'
          ? [{ role: item.role, text: textOf(item.content) }]
          : [];
      },
    ),
    tools: (body.tools ?? []).flatMap(responsesTools),
    answerSchema: body.text?.format?.schema ?? null,
  }),
  stream(reply, tokens, model) {
    const response = responsesComplete(reply, tokens, model);
    const items = response.output.flatMap((item, index) => {
      const at = { 'output_index': index, 'item_id': item.id };
      const words =
        item.type === 'message'
          ? piecesOf(reply.text).map((delta) => ({
              type: 'response.output_text.delta',
              ...at,
              'content_index': 0,
              delta,
            }))
          : [];
      const args =
        item.type === 'function_call'
          ? [{ type: 'response.function_call_arguments.delta', ...at, delta: item.arguments }]
          : [];
      const begun = item.type === 'message' ? { ...item, content: [] } : { ...item, arguments: '' };
      return [
        { type: 'response.output_item.added', 'output_index': index, item: { ...begun, status: 'in_progress' } },
        ...words,
        ...args,
        { type: 'response.output_item.done', 'output_index': index, item },
      ];
    });
    const begun = { ...response, status: 'in_progress', output: [], usage: null };
    const events = [{ type: 'response.created', response: begun }, ...items, { type: 'response.completed', response }];
    return events.map((data, n) => ({ event: data.type, data: { 'sequence_number': n, ...data } }));
  },
  complete: responsesComplete,
};

const anthropicContent = ({ text, call }: Reply): any[] => [
  ...(text ? [{ type: 'text', text }] : []),
  ...(call ? [{ type: 'tool_use', id: newId('toolu'), name: call.name, input: call.args }] : []),
];
const anthropicComplete = (reply: Reply, { input, output }: Tokens, model: string) => ({
  id: newId('msg'),
  type: 'message',
  role: 'assistant',
  model,
  content: anthropicContent(reply),
  'stop_reason': reply.call ? 'tool_use' : 'end_turn',
  'stop_sequence': null,
  usage: { 'input_tokens': input, 'output_tokens': output },
});

const anthropic: Dialect = {
  name: 'anthropic',
  isMine: (path) => path.endsWith('/messages'),
  readKey: (headers) => headers.get('x-api-key') ?? bearer(headers),
  isStreamed: (body) => body.stream === true,
  parse: (body) => ({
    model: body.model,
    turns: body.messages.flatMap(({ role, content }: any): Turn[] => {
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      const results = parts.filter(({ type }: any) => type === 'tool_result');
      const text = textOf(parts.filter(({ type }: any) => type === 'text'));
      const answers = results.map((part: any): Turn => ({ role: 'tool', text: textOf(part.content) }));
      // Text that an agent adds to the results of its tools is not the user's. After a stop, the user's next message follows them.
      return results.length > 0 && !/^do: /m.test(text) ? answers : [...answers, { role, text }];
    }),
    tools: (body.tools ?? []).map((tool: any) => ({ name: tool.name, schema: tool.input_schema ?? {} })),
    answerSchema: body.output_format?.schema ?? null,
  }),
  stream(reply, tokens, model) {
    const message = anthropicComplete(reply, tokens, model);
    const blocks = message.content.flatMap((block, index) => {
      const isText = block.type === 'text';
      const deltas = isText
        ? piecesOf(block.text).map((text) => ({ type: 'text_delta', text }))
        : [{ type: 'input_json_delta', 'partial_json': JSON.stringify(block.input) }];
      return [
        {
          type: 'content_block_start',
          index,
          'content_block': isText ? { type: 'text', text: '' } : { ...block, input: {} },
        },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ];
    });
    const start = { ...message, content: [], 'stop_reason': null, usage: { ...message.usage, 'output_tokens': 1 } };
    const events = [
      { type: 'message_start', message: start },
      ...blocks,
      {
        type: 'message_delta',
        delta: { 'stop_reason': message.stop_reason, 'stop_sequence': null },
        usage: { 'output_tokens': tokens.output },
      },
      { type: 'message_stop' },
    ];
    return events.map((data) => ({ event: data.type, data }));
  },
  complete: anthropicComplete,
};

const geminiAnswer = (parts: object[], finishReason: string | null, tokens: Tokens, model: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
  ...(finishReason && {
    usageMetadata: {
      promptTokenCount: tokens.input,
      candidatesTokenCount: tokens.output,
      totalTokenCount: tokens.input + tokens.output,
    },
  }),
  modelVersion: model,
});
const geminiCall = (call: Reply['call']) => (call ? [{ functionCall: { id: newId('fc'), ...call } }] : []);

const gemini: Dialect = {
  name: 'gemini',
  isMine: (path) => /:(stream)?generateContent$/i.test(path),
  readKey: (headers, url) => headers.get('x-goog-api-key') ?? url.searchParams.get('key'),
  isStreamed: (_body, path) => path.endsWith(':streamGenerateContent'),
  parse: (body, path) => ({
    model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
    turns: body.contents.flatMap(({ role, parts }: any): Turn[] => {
      const answers = parts.filter((part: any) => part.functionResponse);
      if (answers.length > 0)
        return answers.map((part: any) => ({ role: 'tool', text: JSON.stringify(part.functionResponse.response) }));
      return [{ role: role === 'model' ? 'assistant' : 'user', text: textOf(parts) }];
    }),
    tools: (body.tools ?? [])
      .flatMap((tool: any) => tool.functionDeclarations ?? [])
      .map((tool: any) => ({ name: tool.name, schema: tool.parametersJsonSchema ?? tool.parameters ?? {} })),
    answerSchema: body.generationConfig?.responseJsonSchema ?? body.generationConfig?.responseSchema ?? null,
  }),
  stream: ({ text, call }, tokens, model) => [
    ...piecesOf(text).map((piece) => ({ data: geminiAnswer([{ text: piece }], null, tokens, model) })),
    { data: geminiAnswer(geminiCall(call), 'STOP', tokens, model) },
  ],
  complete: ({ text, call }, tokens, model) =>
    geminiAnswer([...(text ? [{ text }] : []), ...geminiCall(call)], 'STOP', tokens, model),
};

/** All APIs that the fake model supports. */
export const dialects: readonly Dialect[] = [openaiChat, openaiResponses, anthropic, gemini];

function toolOf({ name, parameters }: { name: string; parameters?: Schema }): OfferedTool {
  return { name, schema: parameters ?? {} };
}

let made = 0;
function newId(prefix: string): string {
  made += 1;
  return `${prefix}_${made}`;
}
