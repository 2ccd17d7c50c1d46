"""Faults for the rewriting of expressions: what is replaced, and by what.

What stands between ``«`` and ``»`` is replaced; together with what stands around it, it is in the
module exactly once, however lines are broken there.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final, NamedTuple

from twigcast.language.condition import normal_form
from twigcast.language.translate import positions, relaxation, rewriting, translate, upward
from twigcast.language.xpath import syntax

__all__ = ["FAULTS", "Fault"]


class Fault(NamedTuple):
    """One fault of a module."""

    what: str
    module: ModuleType
    original: str
    planted: str


FAULTS: Final = tuple(Fault(*fault) for fault in (
    # Positions.
    ("position above a number", positions, 'case ">" | ">=": return «True if first else None»',
     "True"),
    ("position below a number", positions, 'case "<" | "<=": return «None if first else False»',
     "False"),
    ("position no number", positions, 'return None if is_one_of_them else «operator == "!="»',
     "True"),
    ("the first is kept", positions, "return «compared(1, operator, constant) is True»",
     "compared(2, operator, constant) is True"),
    ("[2] is dropped", positions, 'if predicate in («Number("1")», _LAST)',
     'Number("1"), Number("2")'),
    ("the last is kept", positions, 'case (Call("position", ()), «"=" | "<="», Call',
     '"=" | "<=" | "<"'),
    ("position on the right", positions,
     "return predicate.right, «_MIRRORED[predicate.operator]», predicate.left",
     "predicate.operator"),
    ("positions of several nodes", positions, "(«single» and _keeps_one(each))", "True"),
    ("numbers as positions", syntax, "return «type_of(predicate) is Type.NUMBER» or", "False"),
    ("id in parentheses", syntax,
     "return «Union((base,))» if _is_in_order_of_identifiers(base) else base", "base"),
    # Functions and comparisons.
    ("several attributes", rewriting,
     "isinstance(step.test, NameTest) and «None not in step.test»", "True"),
    ("several children", rewriting, "return step.axis in (Axis.SELF, «Axis.PARENT»)",
     "Axis.PARENT, Axis.CHILD"),
    ("starts-with and blanks", rewriting, 'if plain is None and «name == "contains"» and', "True"),
    ("contains and blanks", rewriting, "and «not set(needle) & set(SPACES)»", "True"),
    ("concat of nothing", rewriting, "_TRUE if argument.value else «_FALSE»", "_TRUE"),
    ("concat of several", rewriting, 'whole = Binary(«"or"», whole, part)', '"and"'),
    ("string as a truth", rewriting, 'parts.append(Binary(«"!="», path, Literal("")))', '"="'),
    ("true() compared", rewriting, 'wanted = «(name == "true") == (operator == "=")»',
     'name == "true"'),
    ("string-length compared", rewriting, "return filled if «some» else Call", "none"),
    ("the name of the document", rewriting,
     'return _FALSE if «(operator == "=") == bool(value)» else _TRUE', 'operator == "="'),
    ("the length of substring", rewriting, "and value and «length == str(len(value))»", "True"),
    ("substring unequal", rewriting, 'if «operator == "="» and value and length', "True"),
    ("number and a literal", rewriting, 'if isinstance(constant, Literal) and «name == "number"»:',
     "False"),
    ("string unequal to nothing", rewriting,
     'return filled if operator == «"!="» else Call', '"="'),
    ("string unequal", rewriting, 'if operator == «"!="»: return Call("not", (Binary', '""'),
    ("names of several", rewriting, "if not «all(map(selects_one, argument.steps))» or", "True"),
    ("names unequal", rewriting, 'return path if operator == «"="» else Call("not", (path,))',
     '"!="'),
    # What looks up.
    ("levels up", upward, "if step.axis is not «Axis.PARENT»: break", "Axis.ANCESTOR"),
    ("ancestors by position", upward, "return not «any(map(is_positional, predicates))»", "False"),
    ("at the parent", upward, "first.axis is Axis.PARENT else «Axis.ANCESTOR_OR_SELF»",
     "Axis.ANCESTOR"),
    ("at itself", upward, "axis = «Axis.SELF» if to_self or", "Axis.PARENT"),
    ("not all", upward, "case Not(AllOf(parts)): return _alternatives(«any_of»(map(negation",
     "all_of"),
    ("not any", upward, "case Not(AnyOf(parts)): return _alternatives(«all_of»(map(negation",
     "any_of"),
    ("not above", upward, '[_Alternative((), («Call("not", (expression,))»,))]', "expression"),
    ("parents in between", upward,
     "any_of((_of_child(alternative, sought, sought.context), «_somewhere(below, sought)»))",
     "FALSE"),
    ("the context as ancestor", upward, "cases = [«all_of([found, *above])»]", "FALSE"),
    ("several ancestors", upward, "others = «ancestors[:place] + ancestors[place + 1 :]»", "[]"),
    ("the root of this name", upward,
     "case Exists(Reach.CHILD, other) if «label.meet(other) is None»:", "True"),
    ("other roots in comparisons", upward,
     "return «_needs_other_root(left, label) or _needs_other_root(right, label)»", "True"),
    ("calls about the node", upward,
     'if name == "lang" or «not (arguments or name in ("true", "false"))»:', "False"),
    # Paths.
    ("parentheses with positions", translate,
     "case Filter(base, predicates) if not «any(map(is_positional, predicates))»: start", "False"),
    ("predicates of parentheses", translate,
     "case Filter(base, predicates) if not «without_trailing(predicates)»:", "()"),
    ("a constant on the left", translate,
     "operator, subject = «_MIRRORED[operator]», expression.right", "operator"),
    ("count of none", translate, "TRUE if some else FALSE, «TRUE if none else FALSE»", "FALSE"),
    ("positions of children", translate, "single=«selects_one(step)»", "True"),
    ("last picks before a step", translate, "if «not rest» and tail is TRUE: predicates", "True"),
    ("last picks before a comparison", translate, "if not rest and «tail is TRUE»: predicates",
     "True"),
    ("self behind //", translate,
     "axes = «(Axis.SELF, Axis.DESCENDANT)» if below else (Axis.SELF,)", "(Axis.SELF,)"),
    ("descendant-or-self", translate,
     "case Axis.DESCENDANT_OR_SELF if label: axes = («Axis.SELF», Axis.DESCENDANT)",
     "Axis.DESCENDANT"),
    ("parents of what no index knows", translate,
     "and (named or any_node) and «_leads_down(rest)»:",
     "True"),
    ("name() of elements", translate, "or («context is Context.ATTRIBUTE» and not colon)", "True"),
    ("name() with a prefix", translate, "(context is Context.ATTRIBUTE and «not colon»)", "True"),
    ("the first of several attributes", translate, "return attribute and «None not in step.label»",
     "True"),
    ("the first by position", translate,
     "step.axis not in REACH_OF or «any(map(is_positional, step.predicates))»:", "False"),
    ("contains nothing", translate, 'if test.constant == «Literal("")»: return TRUE',
     'Literal("x")'),
    # Conditions.
    ("two names", normal_form, "met = «met.meet(label) if met else None»", "met"),
    ("a name of its own", normal_form, "if met is None: return «FALSE»",
     "Exists(reach, label, TRUE)"),
    ("both ways or", normal_form, "if TRUE in kept or «_has_complement(kept)»: return TRUE",
     "any(isinstance(one, Not) for one in kept)"),
    ("both ways and", normal_form, "or («Not in kinds and _has_complement(kept)»): return FALSE",
     "Not in kinds"),
    ("attributes of the document", normal_form, "return condition if «placed» else FALSE", "True"),
    ("the document's own name", normal_form,
     "case SelfIs(): return «FALSE» case _: return condition def is_outside", "TRUE"),
    ("inside a leaf", normal_form, "case Exists() | FirstValue(): return «FALSE»", "TRUE"),
    ("what is asked of the document", normal_form,
     "return all_of([Exists(reach, label, rest), «*outside»])", "*[]"),
    # What is necessary.
    ("necessary for not", relaxation, "case Not(part): return negation(«_strengthened(part)»)",
     "weakened(part)"),
    ("enough for what is residual", relaxation, "case Residual(): return «FALSE»", "TRUE"),
    ("positions seen from above", relaxation,
     "for each in step.predicates if not «is_positional(each)»)", "False"),
    ("necessary for or", relaxation, 'case Binary("or") as chain: return «any_of»(map(_necessary',
     "all_of"),
    ("necessary for truths", relaxation,
     "if «Type.BOOLEAN in (type_of(left), type_of(right))»: return TRUE", "False"),
    ("necessary for !=", relaxation, 'if is_of_numbers and «operator != "!="»:', "True"),
    ("necessary for other strings", relaxation,
     'case _, Literal(text) if «operator == "="» and text', "True"),
    ("necessary for no string", relaxation, 'case _, Literal("") if «operator == "!="»:', "True"),
    ("necessary for no count", relaxation,
     "if not «_zero_compares(operator, text, swapped=swapped)»:", "False"),
    ("a count on the right", relaxation, "(float(text), 0.0) if «swapped» else", "False"),
    ("necessary for concat", relaxation,
     'case Call("concat", parts): return «any_of»(map(_filled, parts)) case', "all_of"),
    ("necessary for words", relaxation, 'word = «max(needle.split(), key=len, default="")»',
     "needle"),
    ("necessary for joined words", relaxation,
     "if «len(others) == 1» and len(others) < len(parts):",
     "len(others) >= 1"),
    ("necessary for any node", relaxation,
     "return where if step.axis is Axis.SELF else «at_document(_below(where))»", "where"),
    ("necessary on other axes", relaxation,
     "return «at_document(exists(Reach.DESCENDANT, label, where))»",
     "exists(Reach.DESCENDANT, label, where)"),
    ("values further below", relaxation,
     "case ValueTest() | FirstValue() | Not() | Residual(): return «TRUE»", "condition"),
    ("children further below", relaxation,
     "case Exists(_, label, where): return exists(«Reach.DESCENDANT», label, where) case SelfIs",
     "Reach.CHILD"),
))  # fmt: skip
