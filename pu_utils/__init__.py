"""Shared module of the book *Augmented prediction for positive-unlabelled data*.

The rooms, in the order in which data walks through them: ``rules`` (the algebra of y, s, e),
``risk``, ``metrics``, ``data``, ``models``, ``experiments``, ``tables``, ``plots``.
"""

__version__ = "0.1.0"
