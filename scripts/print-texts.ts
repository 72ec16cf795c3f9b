import { catalogueIn } from '../test/support/console-texts.ts';
import { readText, treeFiles } from '../test/support/tree.ts';

/** Prints all texts of the console, one a line: `file:group.key`, a tab and the source of the text. */
const lines = treeFiles()
  .filter((path) => path.startsWith('web/src/texts/') && !path.endsWith('/kit.ts'))
  .flatMap((path) =>
    catalogueIn(path, readText(path)).map(
      ({ group, key, source }) => `${path.split('/').pop()}:${group}.${key}\t${source.replaceAll(/\s*\n\s*/g, ' ')}`,
    ),
  );
process.stdout.write(`${lines.join('\n')}\n`);
