import type { ModelProvider } from '../../../providers/model-providers.ts';
import type { ProviderGateway } from '../../provider.ts';
import { countOf, type Json, listOf, memberOf, objectOf, refuseMember, UnboundedCallError } from './members.ts';

/** A call of a model, as its path and its body describe it. */
export interface DescribedCall {
  readonly api: ProviderGateway['api'];
  readonly provider: ModelProvider;
  /** The last part of its path, such as `chat/completions`, `messages` or `generateContent`. */
  readonly operation: string;
  readonly body: Json;
}

/** Members with which the input is larger than the body, or the answer cannot be measured. */
const refusedMembers: Readonly<Record<ProviderGateway['api'], readonly (readonly string[])[]>> = {
  openai: [['previous_response_id'], ['conversation'], ['audio'], ['web_search_options'], ['plugins'], ['models']],
  anthropic: [['mcp_servers'], ['container'], ['inference_geo']],
  gemini: [['cachedContent', 'cached_content']],
};

/** Tools that the agent runs itself. Others run at the provider, which charges for each use. */
const ownTools: Readonly<Record<ProviderGateway['api'], RegExp>> = {
  openai: /^(function|custom|namespace|local_shell|apply_patch|tool_search|computer|computer_use_preview)$/,
  anthropic: /^(custom|bash_\d+|text_editor_\d+|computer_\d+|memory_\d+|tool_search_tool_\w+)$/,
  gemini: /^(functionDeclarations|function_declarations)$/,
};

/** Refuses a call whose cost cannot be limited before it is made. Throws {@link UnboundedCallError}. */
export function requireBounded({ api, operation, body }: DescribedCall): void {
  for (const names of refusedMembers[api]) if (isSet(memberOf(body, ...names))) refuseMember(names[0] as string);
  const tier = memberOf(body, 'service_tier', ...(api === 'gemini' ? ['serviceTier'] : []));
  const tiers = ['auto', 'default', 'flex', 'standard', 'standard_only'];
  if (tier !== undefined && !tiers.includes(String(tier))) refuseMember('service_tier');
  if (api === 'openai') requireBoundedOpenai(body, operation);
  else if (api === 'anthropic') requireBoundedAnthropic(body);
  else requireTextOf(configOf(body), 'responseModalities', 'response_modalities');
}

const isSet = (value: unknown) => value !== undefined && value !== false;

function requireBoundedOpenai(body: Json, operation: string): void {
  // The answer would come later, at another address.
  if (isSet(memberOf(body, 'background'))) refuseMember('background');
  requireTextOf(body, 'modalities');
  if (String(body.model).includes(':online')) refuseMember('model');
  if (!operation.startsWith('responses')) return;
  if (memberOf(body, 'prompt') !== undefined) refuseMember('prompt');
  if (!Array.isArray(body.input)) return;
  for (const item of body.input) {
    const { type, role, id } = objectOf(item) ?? {};
    const isReference =
      type === 'item_reference' || (typeof type !== 'string' && role === undefined && id !== undefined);
    if (isReference) refuseMember('item_reference');
  }
}

function requireBoundedAnthropic(body: Json): void {
  const speed = memberOf(body, 'speed');
  if (speed !== undefined && speed !== 'standard') refuseMember('speed');
  // The usage of an answer leaves out the calls that compact its context.
  const edits = objectOf(memberOf(body, 'context_management'))?.edits;
  if (Array.isArray(edits) && edits.some((each) => String(objectOf(each)?.type).startsWith('compact')))
    refuseMember('context_management');
}

function requireTextOf(object: Json, ...names: readonly string[]): void {
  if (listOf(object, ...names).some((each) => String(each).toLowerCase() !== 'text')) refuseMember(names[0] as string);
}

/** Returns the settings of an answer in a call of Gemini; an empty object if there are none. */
export function configOf(body: Json): Json {
  return objectOf(memberOf(body, 'generationConfig', 'generation_config')) ?? {};
}

/**
 * Removes the tools that run at the provider. Throws {@link UnboundedCallError} if there are no others: the call is made for
 * them.
 */
export function withoutHostedTools({ api, body }: DescribedCall): Json {
  const tools = listOf(body, 'tools');
  const own = tools.flatMap((each) => ownPart(api, each));
  if (own.length === 0 && tools.length > 0)
    throw new UnboundedCallError('a tool that runs at the provider cannot be used: its cost cannot be limited');
  return tools.length === 0 ? body : { ...body, tools: own };
}

function ownPart(api: ProviderGateway['api'], value: unknown): readonly Json[] {
  const tool = objectOf(value);
  if (tool === null) return [];
  if (api === 'gemini') {
    const members = Object.entries(tool).filter(([name]) => ownTools.gemini.test(name));
    return members.length === 0 ? [] : [Object.fromEntries(members)];
  }
  const { type } = tool;
  const isOwn = typeof type === 'string' ? ownTools[api].test(type) || isLocalShell(tool) : api === 'anthropic';
  return isOwn ? [tool] : [];
}

const isLocalShell = ({ type, environment }: Json) => type === 'shell' && objectOf(environment)?.type === 'local';

/** Returns the number of answers that a call asks for. */
export function choicesOf({ api, operation, body }: DescribedCall): number {
  if (api === 'gemini') return Math.max(1, countOf(configOf(body), 'candidateCount', 'candidate_count') ?? 1);
  if (api === 'anthropic') return 1;
  const each = Math.max(1, countOf(body, 'n') ?? 1, countOf(body, 'best_of') ?? 1);
  const { prompt } = body;
  const isList = operation === 'completions' && Array.isArray(prompt) && typeof prompt[0] !== 'number';
  return each * (isList ? Math.max(1, (prompt as readonly unknown[]).length) : 1);
}
