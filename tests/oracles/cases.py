"""A cluster with one right answer: the least price, worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass

from clusters import node

PLAIN = "name,price,cpu,memory_gib\nt,1,4,16\n"
UNSIZED = "name,price\nt,1\n"
THREE = "name,price,cpu,memory_gib\ns,1,2,4\nb,1.8,4,8\nh,3.5,8,16\n"
TWO = "name,price,cpu,memory_gib\nc,1,4,16\nd,3,4,16\n"
ZONES = "name,price,cpu,memory_gib,zone\nt,1,4,16,za\nt,1.5,4,16,zb\n"
SPOT = "name,price,spot_price,cpu,memory_gib\nt,1,0.3,4,16\nu,2,0.1,8,32\n"


@dataclass(frozen=True)
class Case:
    """A cluster with one right answer."""

    name: str
    objects: list
    prices: str
    right: float | None
    relaxed: bool = False


def machines(name, made, number, prices=PLAIN, nodes=None, relaxed=False):
    """Return a case in which every machine costs 1, so that the price is how many there must be."""
    return Case(name, [*(nodes or [node("n0", "t")]), *made], prices, number, relaxed)
