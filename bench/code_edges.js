// Which definition each call means to the TypeScript compiler's checker: [file, line, name, [[file, line, name], ...]] a line.
// Arguments: the folder of the package `typescript`; paths are read from standard input, one a line.
const ts = require(process.argv[2]);
const fs = require("fs");
const paths = fs.readFileSync(0, "utf8").split("\n").filter(Boolean);
const options = {
  allowJs: true, checkJs: false, noEmit: true, skipLibCheck: true, jsx: ts.JsxEmit.Preserve, target: ts.ScriptTarget.Latest,
  module: ts.ModuleKind.Preserve, moduleResolution: ts.ModuleResolutionKind.Bundler, maxNodeModuleJsDepth: 0, strict: true,
};
const program = ts.createProgram(paths, options);
const checker = program.getTypeChecker();
const wanted = new Set(paths);

function bare(node) {
  while (node && (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node)
    || ts.isTypeAssertionExpression(node) || (ts.isSatisfiesExpression && ts.isSatisfiesExpression(node)))) node = node.expression;
  return node;
}
function place(declaration) {
  const file = declaration.getSourceFile();
  const name = ts.getNameOfDeclaration(declaration) || declaration;
  const said = ts.isConstructorDeclaration(declaration) ? "constructor" : name === declaration ? "default" : name.getText(file);
  return [file.fileName, file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1, said];
}
function targets(node, name) {
  const found = new Map();
  const add = (declaration) => { if (declaration) { const at = place(declaration); found.set(at.join(":"), at); } };
  let symbol = checker.getSymbolAtLocation(name);
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  for (const declaration of (symbol && symbol.declarations) || []) add(declaration);
  const signature = ts.isCallLikeExpression(node) ? checker.getResolvedSignature(node) : undefined;
  const made = signature && signature.declaration;
  if (made && (!symbol || ts.isConstructorDeclaration(made) || ts.isMethodDeclaration(made) || ts.isFunctionDeclaration(made))) add(made);
  return [...found.values()];
}
for (const file of program.getSourceFiles()) {
  if (!wanted.has(file.fileName)) continue;
  const stack = [file];
  while (stack.length) {
    const node = stack.pop();
    let name, said;
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const called = bare(node.expression);
      if (ts.isIdentifier(called)) name = called;
      else if (ts.isPropertyAccessExpression(called)) name = called.name;
      else if (called.kind === ts.SyntaxKind.SuperKeyword) { name = called; said = "super"; }
    } else if (ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node)) {
      const tag = node.tagName.getText(file);
      if (/^[A-Z]/.test(tag) || tag.includes(".")) { name = ts.isPropertyAccessExpression(node.tagName) ? node.tagName.name : node.tagName; }
    }
    if (name) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      let found = [];
      try { found = targets(node, name); } catch (error) { /* the checker gives up on some files: nothing is known */ }
      process.stdout.write(JSON.stringify([file.fileName, line, said || name.getText(file), found]) + "\n");
    }
    ts.forEachChild(node, (child) => { stack.push(child); });
  }
}
