"""One filter for everything that is rated: sides, players, squads, venues, conditions, drivers, cars.

**Slots.** Whatever has a strength is a slot with a normal belief ``N(x, v)``. A match is a list of entries
(:class:`~kinelo.raters.filter.entries.Entries`), each a slot and a share, and shows ``y = Σ share · x_slot + ε``. The
two sides of a match, the advantage of its venue, what a side's own ground adds, a strength on clay, the players of a
line-up: all are entries. Who plays, and for how long, is settled where entries are made, before any belief is looked
at.

**Kinds.** Slots are of a few kinds. A kind is a row of a table (:class:`~kinelo.raters.filter.kinds.Kinds`): how fast
its strengths move and return, how uncertain a newcomer is, and what a newcomer is given of those he plays with or
against.

**Loops.** :mod:`~kinelo.raters.filter.alone` keeps a variance per slot and runs several filters side by side (a batch);
:mod:`~kinelo.raters.filter.together` keeps the covariance of all slots, but for kinds that are kept apart. Both
forecast a match as one that teaches nothing. What a match shows is separate from what it does to beliefs: ``believe``
says what is expected of a list of entries, and ``learn`` takes ``x += share · v · shift`` and ``v −= (share · v)² ·
left`` for any ``shift`` and ``left``. A normal observation has ``shift = (y − mean)/S`` and ``left = 1/S``, ``S =
variance + noise``.
"""
