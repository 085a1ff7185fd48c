import subprocess
import sys


def test_steps_are_planned_without_operators():
    """Spark plans in a process that starts with every query: to load operators would take longer than the rest."""
    program = "import sys, skerry.pipeline.step_plan; sys.exit('skerry.operators.operator' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=100, check=False).returncode == 0
