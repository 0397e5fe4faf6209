"""Warnings that point at the line which called an estimator, however deep they arise in it."""

import sys
import warnings

WITHIN = ("pu_utils.", "contextlib")  # contextlib: a decorator around a fit leaves a frame of it


def warn_caller(message, category=UserWarning):
    """Warn of ``message`` at the nearest line outside this package."""
    frame, stacklevel = sys._getframe(), 1
    while frame.f_globals["__name__"].startswith(WITHIN):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)
