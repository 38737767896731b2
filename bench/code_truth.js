// What the TypeScript compiler sees in files: definitions, their lines, parameters, documentation, and calls.
// Arguments: the folder of the package `typescript`; paths are read from standard input, one a line.
const ts = require(process.argv[2]);
const fs = require("fs");
const paths = fs.readFileSync(0, "utf8").split("\n").filter(Boolean);
const K = ts.SyntaxKind;

function bare(node) {
  while (node && (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node)
    || ts.isTypeAssertionExpression(node) || (ts.isSatisfiesExpression && ts.isSatisfiesExpression(node)))) node = node.expression;
  return node;
}
const isFunction = (node) => node && (ts.isArrowFunction(node) || ts.isFunctionExpression(node));
const isValue = (node) => isFunction(node) || (node && ts.isClassExpression(node));

function look(path) {
  const source = fs.readFileSync(path, "utf8");
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : /\.[cm]?js$/.test(path) ? ts.ScriptKind.JS : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, kind);
  const line = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  const defs = [], calls = [];
  const text = (node) => node.getText(file);
  function define(whole, name, made) {
    const parameters = made && made.parameters ? made.parameters.map(text).join(", ") : null;
    const around = ts.isBinaryExpression(whole) && ts.isExpressionStatement(whole.parent) ? whole.parent : whole;
    const notes = around.jsDoc || [];
    const last = notes[notes.length - 1];
    const doc = last && last.comment ? ts.getTextOfJSDocComment(last.comment) : "";
    defs.push([name, line(whole.getStart(file)), line(whole.getEnd()), parameters, doc]);
  }
  function statement(declaration) {
    const list = declaration.parent;
    return ts.isVariableDeclarationList(list) && list.declarations.length === 1 && ts.isVariableStatement(list.parent) ? list.parent : declaration;
  }
  function nameOf(node, otherwise) { return node.name ? text(node.name) : otherwise; }
  const stack = [file];
  while (stack.length) {
    const node = stack.pop();
    switch (node.kind) {
      case K.FunctionDeclaration: case K.ClassDeclaration: define(node, nameOf(node, "default"), node); break;
      case K.MethodDeclaration: case K.GetAccessor: case K.SetAccessor: define(node, text(node.name), node); break;
      case K.MethodSignature: if (ts.isInterfaceDeclaration(node.parent)) define(node, text(node.name), node); break;
      case K.Constructor: define(node, "constructor", node); break;
      case K.InterfaceDeclaration: case K.TypeAliasDeclaration: case K.EnumDeclaration: define(node, text(node.name)); break;
      case K.ModuleDeclaration: {
        if (ts.isModuleDeclaration(node.parent) || text(node.name) === "global") break;
        let name = text(node.name).replace(/^["']|["']$/g, ""), inner = node.body;
        while (inner && ts.isModuleDeclaration(inner)) { name += "." + text(inner.name); inner = inner.body; }
        define(node, name); break;
      }
      case K.VariableDeclaration: {
        const value = bare(node.initializer);
        if (ts.isIdentifier(node.name) && isValue(value)) define(statement(node), text(node.name), value);
        break;
      }
      case K.PropertyDeclaration: case K.PropertyAssignment: {
        const value = bare(node.initializer);
        if (isFunction(value) && !ts.isComputedPropertyName(node.name)) define(node, text(node.name).replace(/^["'`]|["'`]$/g, ""), value);
        break;
      }
      case K.ExportAssignment: if (isValue(bare(node.expression)) && !node.isExportEquals) define(node, nameOf(bare(node.expression), "default"), bare(node.expression)); break;
      case K.BinaryExpression: {
        const value = bare(node.right), left = node.left;
        if (node.operatorToken.kind !== K.EqualsToken || !isValue(value)) break;
        if (ts.isIdentifier(left)) define(node, text(left), value);
        else if (ts.isPropertyAccessExpression(left) && !/[\n(]/.test(text(left))) {
          const whole = text(left) === "module.exports";
          define(node, whole ? nameOf(value, "default") : text(left.name), value);
        }
        break;
      }
      case K.CallExpression: case K.NewExpression: {
        const called = bare(node.expression);
        if (ts.isIdentifier(called)) calls.push([text(called), line(node.getStart(file))]);
        else if (ts.isPropertyAccessExpression(called)) calls.push([text(called.name), line(node.getStart(file))]);
        else if (called.kind === K.SuperKeyword) calls.push(["super", line(node.getStart(file))]);
        break;
      }
      case K.JsxOpeningElement: case K.JsxSelfClosingElement: {
        const name = text(node.tagName);
        if (/^[A-Z]/.test(name) || name.includes(".")) calls.push([name.split(".").pop(), line(node.getStart(file))]);
        break;
      }
    }
    const children = [];
    ts.forEachChild(node, (child) => { children.push(child); });
    for (let at = children.length - 1; at >= 0; at--) stack.push(children[at]);
  }
  return { path, defs, calls, broken: (file.parseDiagnostics || []).length > 0 };
}

const began = Date.now();
for (const path of paths) {
  let found;
  try { found = look(path); } catch (error) { found = { path, failed: String(error) }; }
  process.stdout.write(JSON.stringify(found) + "\n");
}
process.stderr.write(String((Date.now() - began) / 1000));
