"""Small programs for the checks."""

from skerry.deduce.checks import check
from skerry.errors import RuleError
from skerry.lang.rules import read

LOGIC_H = """
const A = 0.
derived H(x: node, y: node, d: int) limit d <= 64.
H(A,A,0).
H(A,x,1) :- G(A,x).
H'(y,d+1) :- H(_,y,d'), (d+1) > d', H(_,x,d), G(x,y).
H(x,y,d+1) :- G(x,y), H(_,x,d), NOT H'(y,d+1).
"""
LOGIC_J = """
const A = 0.
derived H(x: node, y: node, d: int) limit d <= 64.
H(A,A,0).
H(A,x,1) :- G(A,x).
J(y,d) :- H(x,y,d).
H'(y,d+1) :- J(y,d'), (d+1) > d', J(x,d), G(x,y).
H(x,y,d+1) :- G(x,y), J(x,d), NOT H'(y,d+1).
"""
TRACKING = """
builtin function I(float, float, float): float = "m:i".
builtin function F(float, float): float = "m:f".
P(1, 0, 0.5).
U(i1,t+1,u1) :- P(i,t,v), G(i,i1), Z(i,t+1,z), Z(i1,t+1,z1), u1 = I(v,z,z1).
P'(i1,t+1) :- P(i,t,v), G(i,i1), G(i,i2), U(i1,t+1,u1), U(i2,t+1,u2), u1 < u2.
P(i1,t+1,F(v,z)) :- P(i,t,v), Z(i,t+1,z), G(i,i1), NOT P'(i1,t+1).
"""
TRAJECTORIES = """
builtin predicate close(list, list) = "geo:close".
traj([R1,R2]) :- report(R1), report(R2), close(R1,R2), NOT notStart(R1).
notStart(R2) :- report(R1), report(R2), close(R1,R2).
traj([X|R1,R2]) :- traj([X|R1]), report(R2), close(R1,R2).
complete([X|R]) :- traj([X|R]), NOT notLast(R).
notLast(R1) :- report(R1), report(R2), close(R1,R2).
"""
SPREAD = """
derived gas(x: int, t: int) limit t <= 10.
gas(0, 0).
gas(y, t) :- gas(x, t), open(x, y).
gas(x, t+1) :- gas(x, t), NOT vented(x, t), clock(t+1).
vented(x, t+1) :- gas(x, t), vent(x), clock(t+1).
"""
CLOSURE = "reach(x, y) :- edge(x, y). reach(x, z) :- reach(x, y), edge(y, z)."
WIN_MOVE = "win(x) :- move(x, y), NOT win(y)."


def check_text(text):
    return check(read(text))


def refusal(text):
    """The error of a program, or None if it may run."""
    try:
        check_text(text)
    except RuleError as error:
        return str(error)
    return None


def component(text, predicate):
    """The component that a predicate is in."""
    return next(each for each in check_text(text).components if predicate in each.predicates)
