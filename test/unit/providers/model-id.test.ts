import { expect, it } from 'vitest';
import { isModelId } from '../../../src/providers/model-id.ts';

it.each([
  'gpt-5',
  'openai/gpt-5:free',
  'qwen2.5-coder:7b',
  '@cf/meta/llama-3.1-8b-instruct',
  '/srv/models/own.gguf',
  'claude-sonnet-4[1m]',
  'ft:gpt-4o-mini:acme::abc123',
  'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude',
  'hf.co/own/Model-GGUF:Q4_K_M',
  'My Model (7B)',
  '通义千问',
  'a'.repeat(200),
])('takes %j as the id of a model', (id) => expect(isModelId(id)).toBe(true));

it.each([
  '',
  ' ',
  ' a',
  'a ',
  '.',
  '..',
  '../x',
  'a/../b',
  'a/..',
  '__proto__',
  '-flag',
  'a\nb',
  'a\n',
  'a\u0000',
  'a\u202eb',
  'a"b',
  'a`b',
  'a$(b)',
  'a\\b',
  '<script>',
  'a'.repeat(201),
])('refuses %j as the id of a model', (id) => expect(isModelId(id)).toBe(false));
