"""A trial: simulated sensors on a real broker, standing queries, crashes on the way, and a check of every answer.

run_trial(TrialSettings(sensors=40, queries=30, seconds=25.0, runtime="fjord")).describe()
"""

from skerry.testing.trial.run_trial import run_trial
from skerry.testing.trial.settings import TrialSettings
from skerry.testing.trial.verdict import Numbers, Verdict

__all__ = ["Numbers", "TrialSettings", "Verdict", "run_trial"]
