import { type Json, objectOf } from './members.ts';

/** The input tokens of a call, estimated from its body. */
export interface InputTokens {
  /** One for each byte of text: no tokenizer makes more. */
  readonly max: number;
  /** One for each three bytes of text. */
  readonly likely: number;
}

/** Tokens that are counted for each picture, and for each file, sound or video, whatever its size. */
const [imageTokens, fileTokens] = [5_000, 50_000];
/** More than the longest context of a model. */
const maxTokens = 2_000_000;
/** The depth of the parts of messages, with those inside a tool's result. */
const maxDepth = 10;

const imageTypes = ['image', 'image_url', 'input_image', 'computer_screenshot'];
const fileTypes = ['document', 'file', 'input_file', 'input_audio', 'audio', 'video', 'video_url', 'input_video'];

/**
 * Estimates the input of a call. `bytes`: the size of its body. The data of pictures is not text: a picture costs the same
 * whatever its bytes.
 */
export function estimateInput(body: Json, bytes: number): InputTokens {
  const found = { images: 0, imageBytes: 0, files: 0 };
  const walk = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > maxDepth) return;
    if (Array.isArray(value)) {
      for (const each of value) walk(each, depth + 1);
      return;
    }
    const object = value as Json;
    const kind = kindOf(object);
    if (kind === 'image') {
      found.images += 1;
      found.imageBytes += dataBytes(object, 0);
      return;
    }
    if (kind === 'file') found.files += 1;
    for (const each of Object.values(object)) walk(each, depth + 1);
  };
  for (const [name, value] of Object.entries(body)) if (name !== 'tools') walk(value, 0);
  const text = Math.max(0, bytes - found.imageBytes);
  const media = found.images * imageTokens + found.files * fileTokens;
  return { max: Math.min(maxTokens, text + media), likely: Math.min(maxTokens, Math.ceil(text / 3) + media) };
}

function kindOf(object: Json): 'image' | 'file' | null {
  const { type } = object;
  if (typeof type === 'string') {
    if (imageTypes.includes(type)) return 'image';
    if (fileTypes.includes(type)) return 'file';
  }
  const inline = objectOf(object.inlineData ?? object.inline_data);
  if (inline !== null) return /^image\//.test(String(inline.mimeType ?? inline.mime_type)) ? 'image' : 'file';
  return objectOf(object.fileData ?? object.file_data) === null ? null : 'file';
}

// Only in the members that hold the data of a picture: text beside it counts.
function dataBytes(object: Json, depth: number): number {
  let bytes = 0;
  for (const name of ['data', 'url', 'image_url', 'source', 'inlineData', 'inline_data']) {
    const value = object[name];
    if (typeof value === 'string') bytes += value.length;
    else if (depth < 2) bytes += dataBytes(objectOf(value) ?? {}, depth + 1);
  }
  return bytes;
}
