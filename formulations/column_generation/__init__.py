"""Column generation, its loop once for all problems.

A problem asks for so much of each item (tasks of a class, single tasks, hours of work). A *column* is a machine of some kind
with a *pattern*: how much of each item it holds. There are too many columns to list, so a linear program over a few, the
restricted master, is solved, and others are *priced* at its duals: those worth more than their machine come in.

What is shared

- `generation.Generation`: the loop. Duals may be smoothed towards those of the best bound so far (Wentges 1997; Pessoa, Sadykov,
  Uchoa and Vanderbeck 2018).

What a problem supplies

- Pricing: `Generation.price` finds columns at duals that the loop chooses, adds them, and tells if it is worth solving again.
- Proof: `price` also computes what these duals prove, in exact integers, and keeps the best bound. The loop never claims one:
  duals of a solver are a proposal, whatever they are, and so a bound holds after any number of rounds.

Money is in micro-dollars outside and in dollars inside linear programs; nothing here compares two amounts of floats to decide
a bound or a solution.
"""
