"""No room costs its readers more than its budget, and what was saved stays saved."""

from tests.budget import BUDGET, budgets, cost_of, costs

SLACK = 0.01
"""Part of a budget that may be unused: a larger one would allow what a change has saved."""


def test_each_room_is_within_its_budget() -> None:
    """A change that needs more raises the budget of the room in `BUDGET`, with a sentence why."""
    allowed, found = budgets(), costs()
    assert {*found} == {*allowed}, BUDGET
    over = {
        room: (cost, allowed[room])
        for room, cost in found.items()
        if cost.tokens > allowed[room].tokens or cost.names > allowed[room].names
    }
    assert not over, f"leave something out, or raise {BUDGET.name} and say there why"


def test_budgets_follow_what_was_saved() -> None:
    unused = {
        room: (cost.tokens, allowed.tokens)
        for (room, allowed), cost in zip(sorted(budgets().items()), costs().values(), strict=True)
        if allowed.tokens - cost.tokens > max(60, SLACK * allowed.tokens)
    }
    assert not unused, f"lower {BUDGET.name} to what is used now"


def test_what_explains_code_is_free() -> None:
    bare = "class A:\n    def b(self, c):\n        return f'{c}' + 'd'\n"
    said = (
        '"""M."""\n# why\n\nclass A:\n    """C.\n\n    More.\n    """\n\n    def b(self, c):  # x\n'
        '        """B."""\n        return (\n            f"{c}"\n            + "d"\n        )\n'
    )
    assert cost_of(said).tokens == cost_of(bare).tokens + 2  # the brackets
    assert cost_of(said).names == cost_of(bare).names == 1
