"""Column generation and Lagrangian ascent, each part once: restricted master, loop, dive, ascent.

A problem asks for so much of each item (tasks of a class, single tasks, hours of work). A *column* is a machine of some kind
with a *pattern*: how much of each item it holds. There are too many columns to list, so a linear program over a few, the
restricted master, is solved, and others are *priced* at its duals: those worth more than their machine come in.

What is shared

- `master.Master`: the columns found so far and their linear program; what is left to ask for, other rows and their limits.
- `master.Generation`: the loop. Duals may be smoothed towards those of the best bound so far (Wentges 1997; Pessoa, Sadykov,
  Uchoa and Vanderbeck 2018).
- `master.Dive`: dives with limited discrepancies to whole numbers of machines (Sadykov et al. 2019).
- `ascent.ascend`: prices improved along subgradients, for bounds without columns.

What a problem supplies

- Columns: in a subclass of `Master`, what a column has in rows beyond the items, and which columns are allowed.
- Pricing: `Generation.price` finds columns at duals that the loop chooses, adds them, and tells if it is worth solving again.
- Proof: `price` also computes what these duals prove, in exact integers, and keeps the best bound. The loop never claims one:
  duals of a solver are a proposal, whatever they are, and so a bound holds after any number of rounds.
- For dives, `Divable.near`: the master's solution for what is left, after a few rounds of quick pricing.

Money is in micro-dollars outside and in dollars inside linear programs; nothing here compares two amounts of floats to decide
a bound or a solution.
"""
