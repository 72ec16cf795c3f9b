import ts from 'typescript';
import { expect, test } from 'vitest';
import { sourceFiles, sourceLocation } from '../support/tree.ts';

/**
 * Wire names that other code never uses. Biome (wire-names.grit) refuses unquoted snake_case properties; these names
 * are restricted to src/api/rest even when quoted or read.
 */
const wireNames = new Set([
  'devin_id',
  'session_id',
  'target_devin_id',
  'scheduled_session_id',
  'status_enum',
  'status_detail',
  'org_id',
  'org_name',
]);

/** Prefixes of ids on the wires that mean nothing else; `user-` would also find "user-agent". */
const wirePrefix = /^(?:devin-|service-user-|audit_log-)/;

/** The only file below the APIs that knows the prefixes: it reads ids for all of them (pinned in docs/glossary.md). */
const idParser = 'src/domain/ids.ts';

const isOutsideRest = (file: ts.SourceFile) => !file.fileName.startsWith('src/api/rest/');

/** All nodes of a file, in order. */
function* nodes(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) if (!ts.isJSDoc(child)) yield* nodes(child);
}

/** The name of the property that a node defines or reads; null for all other nodes. */
function propertyName(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return node.argumentExpression.text;
  }
  if (ts.isBindingElement(node)) {
    const name = node.propertyName ?? node.name;
    return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : null;
  }
  if (
    ts.isPropertyAssignment(node) ||
    ts.isShorthandPropertyAssignment(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessor(node)
  ) {
    return ts.isIdentifier(node.name) || ts.isStringLiteral(node.name) ? node.name.text : null;
  }
  return null;
}

test('wire names are properties in src/api/rest only', () => {
  const found = sourceFiles()
    .filter(isOutsideRest)
    .flatMap((file) =>
      [...nodes(file)]
        .map((node) => ({ node, name: propertyName(node) }))
        .filter(({ name }) => name !== null && wireNames.has(name))
        .map(({ node, name }) => `${sourceLocation(file, node)} ${name}`),
    );
  expect(
    found,
    `Use our name from docs/glossary.md; in SQL, name the column with "as". Wire names stand in src/api/rest:\n${found.join('\n')}`,
  ).toEqual([]);
});

test('id prefixes are written in src/api/rest and domain/ids.ts only', () => {
  const found = sourceFiles()
    .filter((file) => isOutsideRest(file) && file.fileName !== idParser)
    .flatMap((file) =>
      [...nodes(file)]
        .filter((node) => ts.isStringLiteralLike(node) || ts.isTemplateHead(node))
        .filter((node) => wirePrefix.test(node.text))
        .map((node) => `${sourceLocation(file, node)} ${node.getText(file)}`),
    );
  expect(found, `Ids are bare inside: parse and print them with ${idParser}:\n${found.join('\n')}`).toEqual([]);
});
