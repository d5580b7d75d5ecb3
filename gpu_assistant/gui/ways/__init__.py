"""How an environment is used: terminal, folder, editors, menu, Jupyter, the lock to share."""

from .panel import EnvironmentActionsPanel as EnvironmentActionsPanel
