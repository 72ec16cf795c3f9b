import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '../../src');

/** Texts that stand for the parts of composed statements: by file, or `all`, and then by the expression of the part. */
export type Representatives = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A statement in the source. `sql` null: its text depends on values of a call. */
export interface SqlText {
  /** `file:line` */
  readonly at: string;
  readonly sql: string | null;
}

/**
 * Returns the statements in src/ that are string or template literals. Interpolated expressions are evaluated if their values do
 * not depend on a call of the enclosing function: literals, constants of modules, and exported functions of such values. The
 * others have the text of `representatives`.
 */
export async function readSqlTexts(representatives: Representatives): Promise<SqlText[]> {
  const found: SqlText[] = [];
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted()) {
    if (!path.endsWith('.ts') || path.startsWith('store/generated')) continue;
    const file = sourceOf(join(root, path));
    for (const node of literalsIn(file)) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      const value = await evaluate(node, file, representativesOf(file, representatives)).catch((error: unknown) => {
        if (error === unknown) return null;
        throw error;
      });
      found.push({ at: `${relative(root, file.fileName)}:${line}`, sql: value as string | null });
    }
  }
  return found;
}

/** A value that depends on a call. */
const unknown = new Error('This value is not known without a call.');

const sources = new Map<string, ts.SourceFile>();
function sourceOf(path: string): ts.SourceFile {
  const known = sources.get(path);
  if (known) return known;
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  sources.set(path, file);
  return file;
}

const isSql = (text: string): boolean =>
  /^\s*(?:select\s[^.]*\sfrom\s|insert into\s|update \w+ (?:\w+ )?set\s|delete from\s|with (?:recursive )?\w+ (?:\([^)]*\) )?as\s)/.test(
    text,
  );

/** Returns the outermost literals that begin like a statement. */
function literalsIn(file: ts.SourceFile): ts.Expression[] {
  const found: ts.Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) && isSql(node.text)) found.push(node);
    else if (ts.isTemplateExpression(node) && isSql(node.getText(file).slice(1))) found.push(node);
    else ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const representativesOf = (file: ts.SourceFile, { all, ...byFile }: Representatives): ReadonlyMap<string, string> =>
  new Map(Object.entries({ ...all, ...byFile[relative(root, file.fileName)] }));

const noRepresentatives: ReadonlyMap<string, string> = new Map();

async function evaluate(
  node: ts.Expression,
  file: ts.SourceFile,
  representatives = noRepresentatives,
): Promise<unknown> {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text.replaceAll('_', ''));
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node))
    return evaluate(node.expression, file);
  if (ts.isTemplateExpression(node)) {
    let text = node.head.text;
    for (const { expression, literal } of node.templateSpans) {
      const part = representatives.get(expression.getText(file)) ?? (await evaluate(expression, file));
      text += `${part}${literal.text}`;
    }
    return text;
  }
  if (ts.isPropertyAccessExpression(node)) {
    const object = (await evaluate(node.expression, file)) as Record<string, unknown>;
    return object[node.name.text];
  }
  if (ts.isArrayLiteralExpression(node)) {
    return Promise.all(node.elements.map((element) => evaluate(element, file)));
  }
  if (ts.isObjectLiteralExpression(node)) {
    const entries: [string, unknown][] = [];
    for (const property of node.properties) {
      if (ts.isShorthandPropertyAssignment(property)) {
        entries.push([property.name.text, await valueOfName(property.name, file)]);
        continue;
      }
      if (!ts.isPropertyAssignment(property) || ts.isComputedPropertyName(property.name)) throw unknown;
      entries.push([property.name.text, await evaluate(property.initializer, file)]);
    }
    return Object.fromEntries(entries);
  }
  if (ts.isCallExpression(node)) {
    const { expression } = node;
    const owner = ts.isPropertyAccessExpression(expression) ? await evaluate(expression.expression, file) : undefined;
    const call = await evaluate(expression, file);
    if (typeof call !== 'function') throw unknown;
    const values = await Promise.all(node.arguments.map((argument) => evaluate(argument, file)));
    return call.apply(owner, values);
  }
  if (ts.isIdentifier(node)) return valueOfName(node, file);
  throw unknown;
}

/** Returns the value of a constant of the module, or of an import. The locals of an enclosing function are unknown. */
async function valueOfName(name: ts.Identifier, file: ts.SourceFile): Promise<unknown> {
  for (let scope: ts.Node = name.parent; !ts.isSourceFile(scope); scope = scope.parent) {
    if (declaresInside(scope, name.text)) throw unknown;
  }
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      const elements = statement.importClause?.namedBindings;
      const element =
        elements && ts.isNamedImports(elements) && elements.elements.find((each) => each.name.text === name.text);
      if (!element) continue;
      const target = (statement.moduleSpecifier as ts.StringLiteral).text;
      return exported(resolve(dirname(file.fileName), target), (element.propertyName ?? element.name).text);
    }
    if (ts.isFunctionDeclaration(statement) && statement.name?.text === name.text)
      return exported(file.fileName, name.text);
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name: declared, initializer } of statement.declarationList.declarations) {
      if (!ts.isIdentifier(declared) || declared.text !== name.text || !initializer) continue;
      return exported(file.fileName, name.text).catch(() => evaluate(initializer, file));
    }
  }
  throw unknown;
}

const declaresInside = (scope: ts.Node, name: string): boolean => {
  if (ts.isFunctionLike(scope)) return scope.parameters.some((each) => each.name.getText().split(/\W+/).includes(name));
  if (!ts.isBlock(scope)) return false;
  return scope.statements.some(
    (each) =>
      ts.isVariableStatement(each) &&
      each.declarationList.declarations.some((one) => one.name.getText().split(/\W+/).includes(name)),
  );
};

async function exported(path: string, name: string): Promise<unknown> {
  if (!path.startsWith(root)) throw unknown;
  const module: Record<string, unknown> = await import(path);
  if (!(name in module)) throw unknown;
  return module[name];
}
