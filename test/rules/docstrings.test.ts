import ts from 'typescript';
import { expect, test } from 'vitest';
import { sourceFiles, sourceLocation } from '../support/tree.ts';

/** Exports that need no docstring, as `file#name`, each with its reason. */
const exceptions: Record<string, string> = {};

/** The name of an export, and the position of its docstring. */
interface Declared {
  readonly name: string;
  readonly at: string;
  readonly documented: boolean;
}

const isDocumented = (node: ts.Node) =>
  ts.getJSDocCommentsAndTags(node).some((doc) => ts.isJSDoc(doc) && ts.getTextOfJSDocComment(doc.comment)?.trim());

const isFunction = (value: ts.Expression | undefined) =>
  value !== undefined && (ts.isArrowFunction(value) || ts.isFunctionExpression(value));

/** The functions, classes and types that a statement declares; plain values need no docstring. */
function declarations(file: ts.SourceFile, statement: ts.Statement): Declared[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations
      .filter((one) => ts.isIdentifier(one.name) && isFunction(one.initializer))
      .map((one) => ({
        name: one.name.getText(file),
        at: sourceLocation(file, one),
        documented: isDocumented(statement),
      }));
  }
  if (
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement)
  ) {
    const name = statement.name?.text ?? 'default';
    return [{ name, at: sourceLocation(file, statement), documented: isDocumented(statement) }];
  }
  return [];
}

/** Returns true if the file exports the name: directly, or in an `export { … }` of its own declarations. */
function isExported(file: ts.SourceFile, statement: ts.Statement, name: string): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword)) return true;
  return file.statements.some(
    (other) =>
      ts.isExportDeclaration(other) &&
      !other.moduleSpecifier &&
      other.exportClause !== undefined &&
      ts.isNamedExports(other.exportClause) &&
      other.exportClause.elements.some((element) => (element.propertyName ?? element.name).text === name),
  );
}

test('every exported function and type in src has a docstring', () => {
  const files = sourceFiles();
  const silent = files.flatMap((file) => {
    const exported = file.statements.flatMap((statement) =>
      declarations(file, statement).filter(({ name }) => isExported(file, statement, name)),
    );
    // An overload or a merged type is documented once.
    const documented = new Set(exported.filter((one) => one.documented).map((one) => one.name));
    return exported
      .filter(({ name }) => !documented.has(name) && !(`${file.fileName}#${name}` in exceptions))
      .map(({ name, at }) => `${at} ${name}`);
  });
  expect(files.length).toBeGreaterThan(0);
  expect(
    silent,
    `Say in one sentence of /** … */ what the name does not (units, errors, where a rule comes from):\n${silent.join('\n')}`,
  ).toEqual([]);
});
