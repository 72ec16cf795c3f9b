import { expect, test } from 'vitest';
import { readText, treeFiles } from '../support/tree.ts';

/** References to texts that are not in the repository. The brackets keep this file from finding itself. */
const outside = [
  /\bpinned[ ]\d/i,
  /\bwire[-]facts\b/i,
  /\bspec[ ]\d/i,
  /[(]spec\b/i,
  /\bthe[ ]spec\b/i,
  /\bthe[ ]contract\b/i,
  /\bcontract[.]graphql\b/i,
  /\b(?:agents|house|live|style|console|repositories|workspaces|graphql-review)[.]md[ ]\d/,
];

const isBinary = (path: string) => /\.(?:png|jpe?g|gif|ico|woff2?|wasm|zip|gz)$/.test(path);

test('no reference points to a text outside the repository', () => {
  const found = treeFiles()
    .filter((file) => !isBinary(file))
    .flatMap((file) =>
      readText(file)
        .split('\n')
        .flatMap((line, index) =>
          outside.some((pattern) => pattern.test(line)) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
        ),
    );
  expect(found, `State the rule in docs/ and refer to its heading:\n${found.join('\n')}`).toEqual([]);
});
