/** Maximum length of the id of a model, in characters. */
export const maxModelLength = 200;

/** The characters of a model's id, for messages and descriptions: {@link isModelId}. */
export const modelIdRule =
  'letters, digits, spaces and . _ - : / @ + = , ~ # % & ( ) [ ], beginning with a letter, a digit, @, / or ~, without a part ".." between slashes';

const form = /^[\p{L}\p{N}@/~][\p{L}\p{M}\p{N} ._:/@+=,~#%&()[\]-]*(?<! )$/u;

/**
 * Tells if a text can be the id of a model. Providers choose their ids freely (`openai/gpt-5`, `qwen2.5-coder:7b`,
 * `@cf/meta/llama`, `/srv/models/own`), but none needs quotes, control characters or a path that leads elsewhere.
 */
export const isModelId = (text: string): boolean =>
  text.length <= maxModelLength && form.test(text) && !text.split('/').includes('..');
