"""Shared module of the book *Augmented prediction for positive-unlabelled data*.

The rooms, in the order in which data walks through them: ``rules`` (the algebra of y, s, e),
``risk``, ``metrics``, ``data``, ``models``, ``reproduction`` (the paper's experiments and tables),
``plots``; and ``own_data``, which takes a table of the reader's own the same way.
"""

__version__ = "0.1.0"
