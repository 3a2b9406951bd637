"""Figures and words of a selection, shared by the report and the studio; not public.

Figures are geometry (:mod:`curves`, :mod:`grids`, :mod:`numbers`), which :mod:`drawing` makes SVG
that takes its colours from the style sheet; :mod:`words`, :mod:`prepared` and :mod:`recipe` say
what they show and how it was made.
"""
