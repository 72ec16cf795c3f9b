import ts from 'typescript';

/** A text in a file of the console, with its line. */
export interface ConsoleText {
  readonly text: string;
  readonly line: number;
}

/** Attributes and properties whose values users read, such as `confirmLabel` and `aria-label`. */
const textName =
  /^(?:alt|empty|none|placeholder|summary|under|aria-(?:description|roledescription|valuetext))$|(?:^|[a-z-])(?:hint|label|message|problem|question|text|title)$/i;

/** Attributes whose values nobody reads. */
const codeNames = new Set([
  'className',
  'key',
  'style',
  'd',
  'viewBox',
  'transform',
  'rel',
  'sandbox',
  'autoComplete',
  'accept',
]);

/** Names of keys, as events have them. */
const keyName = /^(?:Arrow\w+|Enter|Escape|Home|End|Page(?:Up|Down)|Tab|Delete|Backspace|Shift|Control|Alt|Meta)$/;

/** Returns true if a string reads as words for people: several words, or one that starts with a capital. U+FFFC is a value. */
const readsAsText = (text: string): boolean =>
  !keyName.test(text) &&
  (/\p{L}[,.:;!?’)]* \p{L}|^ \p{L}{2}|\p{L}{2} $|\u{FFFC} \p{L}{2}|\p{L}{2} \u{FFFC}/u.test(text) ||
    /^\p{Lu}\p{Ll}+(?:$|[^\p{L}\p{N}])/u.test(text));

const hasLetters = (text: string): boolean => /\p{L}\p{L}/u.test(text);

/** The fixed parts of a string or template; null for other nodes. */
export function partsOf(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('\u{FFFC}');
}

/** Returns the node that decides where a value goes, above conditions, parentheses and fallbacks. */
export function targetOf(node: ts.Node): ts.Node {
  const { parent } = node;
  const isValue =
    (ts.isConditionalExpression(parent) && parent.condition !== node) ||
    ts.isParenthesizedExpression(parent) ||
    ts.isAsExpression(parent) ||
    ts.isSatisfiesExpression(parent) ||
    (ts.isBinaryExpression(parent) &&
      [ts.SyntaxKind.QuestionQuestionToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.AmpersandAmpersandToken].includes(
        parent.operatorToken.kind,
      ) &&
      (parent.right === node || parent.operatorToken.kind !== ts.SyntaxKind.AmpersandAmpersandToken));
  return isValue ? targetOf(parent) : parent;
}

/** Returns true if a string is part of the code: a type, an import, a key, an operand of a comparison. */
function isCode(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isLiteralTypeNode(parent) || ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) return true;
  if (ts.isTaggedTemplateExpression(parent) || ts.isCaseClause(parent) || ts.isElementAccessExpression(parent))
    return true;
  if (ts.isTemplateLiteralTypeSpan(parent)) return true;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return true;
  if (ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword) return true;
  if (ts.isNewExpression(parent) && /Error$/.test(parent.expression.getText())) return true;
  return (
    ts.isBinaryExpression(parent) &&
    [
      ts.SyntaxKind.EqualsEqualsEqualsToken,
      ts.SyntaxKind.ExclamationEqualsEqualsToken,
      ts.SyntaxKind.InKeyword,
    ].includes(parent.operatorToken.kind)
  );
}

/** Returns true if a string is part of an attribute that nobody reads, such as `className`. */
function isInCodeAttribute(node: ts.Node): boolean {
  if (ts.isJsxAttribute(node)) return codeNames.has(node.name.getText());
  return !ts.isJsxOpeningLikeElement(node) && !ts.isStatement(node) && node.parent && isInCodeAttribute(node.parent);
}

/** Returns true if the node is a string or a text between tags that users read. */
export function isText(node: ts.Node): boolean {
  if (ts.isJsxText(node)) {
    const { parent } = node;
    const isCodeElement = ts.isJsxElement(parent) && /^(?:code|kbd)$/.test(parent.openingElement.tagName.getText());
    return !isCodeElement && hasLetters(node.text);
  }
  const text = partsOf(node);
  if (text === null || isCode(node) || isInCodeAttribute(node)) return false;
  const target = targetOf(node);
  if (ts.isJsxAttribute(target) || ts.isJsxExpression(target)) {
    const attribute = ts.isJsxAttribute(target) ? target : target.parent;
    if (!ts.isJsxAttribute(attribute)) return hasLetters(text);
    const name = attribute.name.getText();
    return textName.test(name) ? hasLetters(text) : readsAsText(text);
  }
  if (ts.isPropertyAssignment(target) && textName.test(target.name.getText().replaceAll("'", ''))) {
    return hasLetters(text);
  }
  return readsAsText(text);
}

/** Reads a file of the console with its parents. */
const parseConsole = (path: string, code: string): ts.SourceFile =>
  ts.createSourceFile(
    path,
    code,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );

/** Lists the texts in a file that users read. */
export function textsIn(path: string, code: string): readonly ConsoleText[] {
  const file = parseConsole(path, code);
  const found: ConsoleText[] = [];
  const visit = (node: ts.Node): void => {
    if (isText(node)) {
      const text = (partsOf(node) ?? (node as ts.JsxText).text).replaceAll(/\s+/g, ' ').trim();
      found.push({ text, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** A text of the catalogue: its name, such as `keyForm.testKey`, and its source. */
interface CatalogueText {
  readonly group: string;
  readonly key: string;
  readonly source: string;
}

/** Lists the texts of a file of `web/src/texts`: the properties of its exported objects. */
export function catalogueIn(path: string, code: string): readonly CatalogueText[] {
  const file = parseConsole(path, code);
  return file.statements.flatMap((statement) => {
    const isExported =
      ts.isVariableStatement(statement) &&
      statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) return [];
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      initializer && ts.isObjectLiteralExpression(initializer)
        ? initializer.properties.map((property) => ({
            group: name.getText(),
            key: property.name?.getText() ?? '',
            source: ts.isPropertyAssignment(property) ? property.initializer.getText() : property.getText(),
          }))
        : [],
    );
  });
}

/** A use of the catalogue: the file of the texts, the group, and the key; a null key stands for all of the group. */
interface TextUse {
  readonly file: string;
  readonly group: string;
  readonly key: string | null;
}

/** Lists the uses of the catalogue in a file of the console. */
export function textUsesIn(path: string, code: string): readonly TextUse[] {
  const source = parseConsole(path, code);
  const imported = new Map<string, { readonly file: string; readonly group: string }>();
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const file = /(?:^|\/)texts\/([\w-]+\.ts)$/.exec((statement.moduleSpecifier as ts.StringLiteral).text)?.[1];
    const names = statement.importClause?.namedBindings;
    if (file === undefined || !names || !ts.isNamedImports(names)) continue;
    for (const { name, propertyName } of names.elements) {
      imported.set(name.text, { file, group: (propertyName ?? name).text });
    }
  }
  const uses: TextUse[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    const group = ts.isIdentifier(node) ? imported.get(node.text) : undefined;
    if (group && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node)) {
      const isMember = ts.isPropertyAccessExpression(node.parent);
      uses.push({ ...group, key: isMember ? node.parent.name.text : null });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return uses;
}
