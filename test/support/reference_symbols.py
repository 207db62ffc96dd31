"""What CPython's own `ast` says that files declare, as JSON: an independent source to hold our Python rules against."""
import ast
import json
import re
import sys

ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"}
UPPER_CASE = re.compile(r"^[A-Z][A-Z0-9_]*$")


def last_part(base):
    if isinstance(base, ast.Subscript):
        base = base.value
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else ""


def class_kind(node):
    bases = {last_part(base) for base in node.bases}
    if bases & ENUMS:
        return "enum"
    return "interface" if "Protocol" in bases else "class"


def walk(node, in_class, found):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.append((child.name, "method" if in_class else "function", child.lineno, child.end_lineno))
            walk(child, False, found)
        elif isinstance(child, ast.ClassDef):
            found.append((child.name, class_kind(child), child.lineno, child.end_lineno))
            walk(child, True, found)
        else:
            walk(child, in_class and not isinstance(child, ast.Lambda), found)


def targets(statement):
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    elif isinstance(statement, ast.AnnAssign):
        yield statement.target


def symbols(text):
    module = ast.parse(text)
    found = []
    walk(module, False, found)
    for statement in module.body:
        names = [target.id for target in targets(statement) if isinstance(target, ast.Name)]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            names = [statement.target.id]
        if "__all__" in names:
            value = statement.value
            for item in value.elts if isinstance(value, (ast.List, ast.Tuple)) else []:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    found.append((item.value, "export", item.lineno, item.end_lineno))
        elif not isinstance(statement, ast.AugAssign):
            for name in names:
                if UPPER_CASE.match(name):
                    found.append((name, "const", statement.lineno, statement.end_lineno))
    return found


for path in sys.stdin.read().split("\n"):
    if not path:
        continue
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        listed = [dict(zip(("name", "kind", "lineStart", "lineEnd"), symbol)) for symbol in symbols(text)]
    except (SyntaxError, UnicodeDecodeError, ValueError):
        continue
    print(json.dumps({"path": path, "symbols": listed}))
