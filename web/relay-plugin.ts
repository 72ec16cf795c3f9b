import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const artifacts = fileURLToPath(new URL('./src/__generated__/', import.meta.url));
const tagged = /\bgraphql`[\s#]*(?:[^`]*?\n)?\s*(?:query|mutation|subscription|fragment)\s+(\w+)[^`]*`/g;

/**
 * Replaces each `graphql` tag by the output of Relay's compiler. Relay's own plugin does the same, but needs Babel and
 * a second copy of `graphql`.
 */
export function relay(): Plugin {
  return {
    name: 'relay-documents',
    enforce: 'pre',
    transform: {
      filter: { id: /\/web\/src\/.*\.tsx?$/, code: /\bgraphql`/ },
      handler(code) {
        const imports: string[] = [];
        const replaced = code.replace(tagged, (document, name: string) => {
          imports.push(`import ${name}Document from ${JSON.stringify(`${artifacts}${name}.graphql.ts`)};`);
          // Keeps the number of lines, so that positions in messages stay correct.
          return `${name}Document${'\n'.repeat(document.split('\n').length - 1)}`;
        });
        return { code: `${imports.join(' ')}${replaced}`, map: null };
      },
    },
  };
}
