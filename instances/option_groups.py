"""Groups of options: dataclasses that functions take, and whose fields are the parameters that users see.

    @flattened()
    def method(instance, steps: int = 3, pool: PoolOptions = POOL): ...

has the parameters `steps`, `acquirer`, `scaling` and so on, with the values of `POOL` as defaults.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def flattened(without: Sequence[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace each parameter whose default is a dataclass by its fields, in order, with that default's values.

    without : fields that keep their values and are no parameters.
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        given = inspect.signature(func)
        groups: dict[str, Any] = {name: p.default for name, p in given.parameters.items() if is_dataclass(p.default)}
        names = {group: [f.name for f in fields(default) if f.name not in without] for group, default in groups.items()}
        shown: list[inspect.Parameter] = []
        for name, parameter in given.parameters.items():
            if name not in groups:
                shown.append(parameter)
                continue
            kinds = {f.name: f.type for f in fields(groups[name])}
            shown += [
                parameter.replace(name=key, default=getattr(groups[name], key), annotation=kinds[key])
                for key in names[name]
            ]
        signature = given.replace(parameters=shown)

        @functools.wraps(func)
        def ungrouped(*args: Any, **keywords: Any) -> Any:
            bound = signature.bind(*args, **keywords)
            bound.apply_defaults()
            values = dict(bound.arguments)
            for group, default in groups.items():
                values[group] = replace(default, **{key: values.pop(key) for key in names[group]})
            return func(**values)

        ungrouped.__signature__ = signature  # type: ignore[attr-defined]
        return ungrouped

    return decorate
