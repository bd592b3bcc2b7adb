import ts from 'typescript';

/** How an import reaches the other module: with the file, when a line runs, or never (types only). */
export type ImportKind = 'load' | 'load-late' | 'name';

export interface SourceImport {
  /** Undefined for `import(expression)`, which nobody can check. */
  readonly specifier: string | undefined;
  readonly kind: ImportKind;
}

/** What the rules of the house ask of a file. Each text names the construct. */
export interface SourceFacts {
  readonly imports: readonly SourceImport[];
  readonly enums: readonly string[];
  readonly defaultExports: readonly string[];
  readonly reExports: readonly string[];
  readonly clockReads: readonly string[];
  /** Statements other than `export … from`. */
  readonly ownStatements: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer U)[] ? U[] : T[K] };

/** Reads a file with the compiler's own parser: `ts.preProcessFile` does not tell `import type` from `import`. */
export function readFacts(file: string, text: string): SourceFacts {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const imported = new Set(source.statements.filter(ts.isImportDeclaration).flatMap(importedNames));
  const facts: Mutable<SourceFacts> = {
    imports: [],
    enums: [],
    defaultExports: [],
    reExports: [],
    clockReads: [],
    ownStatements: source.statements.filter((one) => !ts.isExportDeclaration(one) || !one.moduleSpecifier).length,
  };
  const visit = (node: ts.Node): void => {
    const found = readImport(node);
    if (found) facts.imports.push(found);
    if (ts.isEnumDeclaration(node)) facts.enums.push(`enum ${node.name.text}`);
    if (isDefaultExport(node)) facts.defaultExports.push(oneLine(node));
    if (ts.isExportDeclaration(node) && isReExport(node, imported)) facts.reExports.push(oneLine(node));
    if (readsClock(node)) facts.clockReads.push(oneLine(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return facts;
}

function readImport(node: ts.Node): SourceImport | undefined {
  if (ts.isImportDeclaration(node)) {
    // `import { type X }` stays in the compiled file as `import {}`, which loads it.
    return {
      specifier: textOf(node.moduleSpecifier),
      kind: node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? 'name' : 'load',
    };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    return { specifier: textOf(node.moduleSpecifier), kind: node.isTypeOnly ? 'name' : 'load' };
  }
  if (ts.isImportTypeNode(node)) {
    return { specifier: ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : undefined, kind: 'name' };
  }
  if (ts.isExternalModuleReference(node)) return { specifier: textOf(node.expression), kind: 'load' };
  if (!ts.isCallExpression(node)) return undefined;
  if (node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return { specifier: textOf(node.arguments[0]), kind: 'load-late' };
  }
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require';
  return isRequire ? { specifier: textOf(node.arguments[0]), kind: 'load' } : undefined;
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === 'default';
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(isDefaultKeyword);
}

function isDefaultKeyword(modifier: ts.Modifier): boolean {
  return modifier.kind === ts.SyntaxKind.DefaultKeyword;
}

/** `export … from`, or the same in two steps: a name that the file imported. */
function isReExport(node: ts.ExportDeclaration, imported: ReadonlySet<string>): boolean {
  if (node.moduleSpecifier) return true;
  const names = node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : [];
  return names.some((one) => imported.has((one.propertyName ?? one.name).text));
}

function importedNames({ importClause }: ts.ImportDeclaration): string[] {
  const bindings = importClause?.namedBindings;
  const named = bindings === undefined ? [] : ts.isNamespaceImport(bindings) ? [bindings] : [...bindings.elements];
  return [importClause, ...named].flatMap((one) => one?.name?.text ?? []);
}

/** `Date.now`, `new Date()`, `Date()`, `Temporal.Now`, `performance.now`. */
function readsClock(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return /^(?:Date\.now|Temporal\.Now|performance\.now)$/.test(node.getText().replace(/\s/g, ''));
  }
  const isCall = ts.isNewExpression(node) || ts.isCallExpression(node);
  return isCall && node.expression.getText() === 'Date' && (node.arguments ?? []).length === 0;
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node && ts.isStringLiteralLike(node) ? node.text : undefined;
}

function oneLine(node: ts.Node): string {
  return node.getText().replace(/\s+/g, ' ').slice(0, 80);
}
